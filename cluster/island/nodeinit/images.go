package nodeinit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// A node begins with two archives: the one whose image every pod needs, and one with more. importedMarks holds a
// file for each archive that was imported, which says which version of it that was; it lies in containerd's own
// directory, and so lasts as long as what was imported.
const (
	sandboxImage  = binaries + "/images/pause.tar"
	moreImages    = binaries + "/images/node.tar"
	importedMarks = "/var/lib/containerd/kogge-imported"
)

// importImages brings an archive into containerd, once for each version of it. One that is missing is left out.
func (r *reaper) importImages(ctx context.Context, archive string) error {
	about, err := os.Stat(archive)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for images: %w", err)
	}
	version := fmt.Sprintf("%d bytes, %s", about.Size(), about.ModTime().UTC().Format(time.RFC3339Nano))
	mark := filepath.Join(importedMarks, filepath.Base(archive))
	if present, err := os.ReadFile(mark); err == nil && string(present) == version {
		return nil
	}
	status, err := r.runOnce(ctx, service{name: "images", command: importCommand(archive)})
	if err != nil {
		return err
	}
	if status.ExitStatus() != 0 {
		return fmt.Errorf("import %s: %s", archive, describe(status, nil))
	}
	if err := os.MkdirAll(importedMarks, 0o755); err != nil {
		return fmt.Errorf("mark images as imported: %w", err)
	}
	if err := os.WriteFile(mark, []byte(version), 0o644); err != nil {
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
