// Package webhooks defaults and validates Backups.
package webhooks
