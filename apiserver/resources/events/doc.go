// Package events holds the kinds of the group events.k8s.io: the newer face of the core group's events,
// which are stored once.
package events
