// Package podcontrol makes and deletes pods for their owners: what every workload
// controller does in the same way, with the same events.
//
// Promises: pods are made in batches that double while all goes well (a quota that refuses
// the first is not asked five hundred times); each pod made or deleted, and each refusal,
// is an event of its owner; a pod that is gone already counts as deleted.
//
//	control := podcontrol.Control{Client: c, Events: recorder}
//	err := podcontrol.SlowStart(3, func(int) error {
//		return control.Create(ctx, owner, podcontrol.NewPod(&template, owner, kind))
//	})
//
// Next: scheduler.
package podcontrol
