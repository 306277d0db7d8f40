// Package backup runs the operator's suite by our envtest: the file that binaries has, with another import path.
package backup
