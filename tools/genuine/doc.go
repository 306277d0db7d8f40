// Package genuine runs a control plane of the original binaries, to hold ours against it.
package genuine
