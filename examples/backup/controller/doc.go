// Package controller makes Backups real: a Deployment that keeps the copies, a Job that makes the first one and a CronJob that makes the others.
//
// plan.go says what a Backup owns, status.go what is told about it; reconciler.go fetches and writes.
package controller
