// Package ttlafterfinished deletes Jobs some time after they finished, with all that is
// theirs, where they ask for it.
//
// Promises: the time counts from the condition by which the Job ended; what is deleted is
// the Job that was looked at, not a successor of the same name.
//
//	wait, due := ttlafterfinished.Decide(job, now)
//
// Next: controllers/namespace.
package ttlafterfinished
