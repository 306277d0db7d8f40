// Package resourcequota counts what the objects of a namespace use of its ResourceQuotas.
//
// Admission charges for what is written; this controller gives back what is gone, counts
// anew when a quota changes, and puts right what somebody else wrote into a status. Kinds of
// which only the number counts are watched by their metadata, and only while a quota counts
// them.
//
// Promises: it never decides what may be written, only what is used; a charge that it hasn't
// seen yet makes its write a conflict, not a loss.
//
//	used := resourcequota.Count(&q.Spec, evaluator, objects, now)
//
// Next: internal/quota.
package resourcequota
