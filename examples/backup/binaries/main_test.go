package backup_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kogge-dev/kogge/cli"
)

// assets is the variable that tells envtest where the binaries are.
const assets = "KUBEBUILDER_ASSETS"

// TestMain lets this test's own binary stand in for etcd and kube-apiserver, unless others are named: as `kogge envtest assets` lays them out, or
// genuine ones.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "etcd", "kube-apiserver":
		os.Exit(cli.Run(os.Args, os.Stdout, os.Stderr))
	}
	if os.Getenv(assets) != "" {
		os.Exit(m.Run())
	}
	directory, err := standIn()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(directory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// standIn makes a folder in which this binary has the names of the others.
func standIn() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	directory, err := os.MkdirTemp("", "kogge-assets-")
	if err != nil {
		return "", err
	}
	return directory, errors.Join(os.Symlink(self, filepath.Join(directory, "etcd")), os.Symlink(self, filepath.Join(directory, "kube-apiserver")),
		os.Setenv(assets, directory))
}
