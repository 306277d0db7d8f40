package realnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/kogge-dev/kogge/kubelet/cgroup"
)

// Variables by which the parent tells the child where it is.
const (
	insideVariable = "KOGGE_REALNODE_FOLDER"
	groupVariable  = "KOGGE_REALNODE_CGROUP"
)

// Main runs the tests inside and returns their exit code.
func Main(m *testing.M) int {
	if folder := os.Getenv(insideVariable); folder != "" {
		return inside(m, folder)
	}
	code, err := outside()
	if err != nil {
		fmt.Fprintln(os.Stderr, "real node:", err)
		return max(code, 1)
	}
	return code
}

// outside runs this program again inside, and clears away behind it.
func outside() (code int, err error) {
	if os.Geteuid() != 0 {
		return 1, errors.New("these tests start real containers: run them as root")
	}
	folder, err := os.MkdirTemp("", "kogge-kubelet-test-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	group := "/kogge-kubelet-test-" + strconv.Itoa(os.Getpid())
	child := exec.Command("/proc/self/exe", os.Args[1:]...)
	child.Env = append(os.Environ(), insideVariable+"="+folder, groupVariable+"="+group)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
	runErr := child.Run()
	groups, err := cgroup.New(group)
	if err != nil {
		return 1, err
	}
	if err := groups.RemoveAll(); err != nil {
		return 1, err
	}
	var exit *exec.ExitError
	if errors.As(runErr, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, runErr
}

// inside prepares the namespaces, runs the tests, and ends containerd.
func inside(m *testing.M, folder string) int {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "real node:", err)
		return 1
	}
	code := m.Run()
	if err := stopContainerd(); err != nil {
		fmt.Fprintln(os.Stderr, "real node:", err)
		return 1
	}
	return code
}

// bin is the repository's folder of programs.
func bin() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; folder != "/"; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err != nil {
			continue
		}
		path := filepath.Join(folder, "bin")
		if _, err := os.Stat(filepath.Join(path, "containerd")); err != nil {
			return "", errors.New("bin/containerd is missing: run \"make bin images\" first")
		}
		return path, nil
	}
	return "", errors.New("the repository's root was not found")
}
