// Package cronjob starts the Jobs of CronJobs at their times.
//
// A Job's name holds the minute that it was meant for, so that no time is served twice
// even when a controller dies between making a Job and writing that down. Of the times
// that were missed only the latest is made up for.
//
// Promises: it keeps nothing that the API doesn't hold; a CronJob is looked at again a
// tenth of a second after its next time, never by polling.
//
//	plan := cronjob.Decide(cronjob.Observed{CronJob: c, Jobs: jobs, Now: now})
//	// plan.Start, plan.Replace, plan.Expired
//
// schedule.go tells times, plan.go decides, history.go clears up.
//
// Next: controllers/endpointslice.
package cronjob
