package nodeinit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"
)

// nodeImages is the archive of the images that a node begins with. importedMark says which version of it was
// imported; it lies in containerd's own directory, and so lasts as long as what was imported.
const (
	nodeImages   = binaries + "/images/node.tar"
	importedMark = "/var/lib/containerd/kogge-imported"
)

// importImages brings the images that a node begins with into containerd, once for each version of the archive.
func (r *reaper) importImages(ctx context.Context) error {
	about, err := os.Stat(nodeImages)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the node's images: %w", err)
	}
	version := fmt.Sprintf("%d bytes, %s", about.Size(), about.ModTime().UTC().Format(time.RFC3339Nano))
	if present, err := os.ReadFile(importedMark); err == nil && string(present) == version {
		return nil
	}
	status, err := r.runOnce(ctx, service{name: "images", command: importCommand(nodeImages)})
	if err != nil {
		return err
	}
	if status.ExitStatus() != 0 {
		return fmt.Errorf("import %s: %s", nodeImages, describe(status, nil))
	}
	if err := os.WriteFile(importedMark, []byte(version), 0o644); err != nil {
		return fmt.Errorf("mark images as imported: %w", err)
	}
	return nil
}

func importCommand(archive string) []string {
	return []string{"ctr", "--address", containerdSocket, "--namespace", "k8s.io", "images", "import", archive}
}

// waitForSocket blocks until someone accepts connections on the socket.
func waitForSocket(ctx context.Context, socket string) error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		connection, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
