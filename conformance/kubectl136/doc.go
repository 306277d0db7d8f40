// Package kubectl136 is where the kubectl of the minor version before the server's is built, with a go.mod of its own.
package kubectl136
