// Package authentication holds the kinds of the group authentication.k8s.io: questions about who somebody is. None is stored.
package authentication
