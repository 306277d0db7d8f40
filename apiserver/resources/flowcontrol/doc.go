// Package flowcontrol holds the kinds of the group flowcontrol.apiserver.k8s.io. What they say is kept and
// judged; nothing is queued by it yet.
//
// Next: apiserver/resources/storagemigration
package flowcontrol
