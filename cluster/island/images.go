package island

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kogge-dev/kogge/cluster/island/process"
)

// LoadArchive brings an image archive (of docker save, or a tar of an OCI image layout) into every node. An image
// that several archives name is the one that was loaded last.
func LoadArchive(ctx context.Context, directory Directory, archive string) error {
	spec, err := directory.Spec()
	if err != nil {
		return err
	}
	if _, err := os.Stat(archive); err != nil {
		return fmt.Errorf("read image archive: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, node := range spec.NodeList() {
		group.Go(func() error { return loadInto(ctx, directory, spec, node, archive) })
	}
	return group.Wait()
}

func loadInto(ctx context.Context, directory Directory, spec Spec, node Node, archive string) error {
	record, err := process.Load(directory.recordFile(node.Name))
	if err != nil {
		return err
	}
	if !record.Alive() {
		return fmt.Errorf("node %s does not run", node.Name)
	}
	// A socket's path is one of the file system, whatever the network namespace: it can be reached through the
	// root of the node's first process.
	socket := fmt.Sprintf("/proc/%d/root/run/containerd/containerd.sock", record.PID)
	command := exec.CommandContext(ctx, filepath.Join(spec.Binaries, "ctr"),
		"--address", socket, "--namespace", "k8s.io", "images", "import", archive)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("load %s into %s: %s: %w", archive, node.Name, strings.TrimSpace(output.String()), err)
	}
	return nil
}
