// Package suite is the operator's suite: what must hold of it on any cluster. Run takes a cluster on which definitions and webhooks are
// installed, starts the operator, and looks at it as a user does.
package suite
