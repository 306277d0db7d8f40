package nodeinit

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// importedMarks holds, for each archive that was imported, which version of it that was. It lies in containerd's
// own directory, and so lasts as long as what was imported.
const importedMarks = "/var/lib/containerd/kogge-imported"

// importImages brings the archives that lie beside the binaries into containerd, each once.
func (r *reaper) importImages(ctx context.Context) error {
	archives, err := filepath.Glob(binaries + "/images/*.tar")
	if err != nil {
		return fmt.Errorf("look for images: %w", err)
	}
	if err := os.MkdirAll(importedMarks, 0o755); err != nil {
		return fmt.Errorf("make directory for marks of images: %w", err)
	}
	for _, archive := range archives {
		if err := r.importImage(ctx, archive); err != nil {
			return err
		}
	}
	return nil
}

func (r *reaper) importImage(ctx context.Context, archive string) error {
	about, err := os.Stat(archive)
	if err != nil {
		return fmt.Errorf("look at image: %w", err)
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
	if err := os.WriteFile(mark, []byte(version), 0o644); err != nil {
		return fmt.Errorf("mark image as imported: %w", err)
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
