package island

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/kogge-dev/kogge/cluster/island/cgroup"
	"github.com/kogge-dev/kogge/cluster/island/nodeinit"
	"github.com/kogge-dev/kogge/internal/netns"
)

// unit is a process that the supervisor keeps running: the server, or a node's first process.
type unit struct {
	// name is that of its process record and of its log.
	name string
	// start starts the process; the supervisor reaps it.
	start func(ctx context.Context) (*os.Process, error)
	// graceful units are asked to end with SIGTERM before they are killed.
	graceful bool
}

// serverUnit is `kogge server`: API server, controllers and scheduler in one process.
func serverUnit(directory Directory, spec Spec) unit {
	return unit{name: "server", graceful: true, start: func(context.Context) (*os.Process, error) {
		return startDetached(filepath.Join(spec.Binaries, "kogge"), serverArguments(directory, spec), directory.logFile("server"), nil)
	}}
}

// serverArguments are the flags of `kogge server` for an island.
func serverArguments(directory Directory, spec Spec) []string {
	arguments := []string{
		"server",
		"--data-dir=" + directory.path("etcd"),
		"--pki-dir=" + directory.path("pki"),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(spec.Port),
		"--advertise-address=" + Bridge().String(),
		"--service-account-issuer=" + Issuer,
		"--service-cluster-ip-range=" + ServiceRange.String(),
		"--cluster-cidr=" + PodRange.String(),
		"--node-cidr-mask-size=" + strconv.Itoa(PodRangePerNode),
		"--simulation=" + directory.simulationFile(),
	}
	if !spec.Containers() {
		return arguments
	}
	arguments = append(arguments,
		"--node-network-namespace="+directory.namespaceFile(),
		"--node-secure-port="+strconv.Itoa(NodePort),
		"--image-mirror-dir="+filepath.Join(spec.Binaries, "images"),
		"--image-mirror-port="+strconv.Itoa(MirrorPort),
	)
	if spec.Registries {
		arguments = append(arguments, "--pull-proxy-token-file="+directory.pullTokenFile(), "--pull-proxy-port="+strconv.Itoa(PullPort))
	}
	return arguments
}

// nodeUnit is a node container: its first process, in namespaces of its own.
func nodeUnit(directory Directory, spec Spec, node Node, namespace netns.Namespace, hierarchies []cgroup.Hierarchy) unit {
	return unit{name: node.Name, start: func(ctx context.Context) (*os.Process, error) {
		// What the node's life before left; its processes have ended with its first one.
		group := cgroup.New(hierarchies, cgroupName(spec.Name), node.Name)
		if err := group.Remove(ctx); err != nil {
			return nil, err
		}
		if err := group.Create(); err != nil {
			return nil, err
		}
		ready, hold, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("make pipe to the node: %w", err)
		}
		// The node waits until this end is closed, however this function ends.
		defer hold.Close()
		defer ready.Close()
		arguments := []string{"node-init", "--config", directory.nodeConfigFile(node.Name)}
		log := filepath.Join(directory.NodeLog(node.Name), "init.log")
		process, err := startDetached(filepath.Join(spec.Binaries, "kogge"), arguments, log, ready)
		if err != nil {
			return nil, err
		}
		if err := attachNode(namespace, node, process.Pid); err != nil {
			return process, err
		}
		return process, nil
	}}
}

// startDetached starts a program in a session of its own, logging to a file. With a pipe it becomes the first
// process of a new container, and inherits the pipe.
func startDetached(program string, arguments []string, log string, pipe *os.File) (*os.Process, error) {
	output, err := nodeinit.OpenLog(log)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	command := exec.Command(program, arguments...)
	command.Dir = "/"
	command.Stdout, command.Stderr = output, output
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if pipe != nil {
		// ExtraFiles begin at descriptor 3, nodeinit.ReadyDescriptor.
		command.ExtraFiles = []*os.File{nodeinit.ReadyDescriptor - 3: pipe}
		command.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", arguments[0], err)
	}
	return command.Process, nil
}
