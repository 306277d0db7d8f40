package containerlog

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names of rotated logs: 0.log.20261130-193252, compressed at the next rotation: 0.log.20261130-193252.gz.
const (
	rotatedFormat = "20060102-150405"
	compressed    = ".gz"
	unfinished    = ".tmp"
)

// Rotation says when a log is rotated and how many files there may be of it, the present one included.
type Rotation struct {
	MaxBytes int64
	MaxFiles int
}

// Rotate renames the log if it has grown too large and calls reopen, upon which the runtime writes a new one. The
// one that was rotated before is compressed now: the runtime may still have written to it until then.
func Rotate(ctx context.Context, path string, now time.Time, rotation Rotation, reopen func(context.Context) error) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return reopen(ctx) // a rotation was broken off between its two steps
	}
	if err != nil || info.Size() < rotation.MaxBytes {
		return err
	}
	rotated, err := rotatedLogs(path)
	if err != nil {
		return err
	}
	// With the one that is about to be added and the present one there must not be more than MaxFiles.
	for len(rotated) > max(rotation.MaxFiles-2, 0) {
		if err := os.Remove(rotated[0]); err != nil {
			return err
		}
		rotated = rotated[1:]
	}
	for _, old := range rotated {
		if !strings.HasSuffix(old, compressed) {
			if err := compress(old); err != nil {
				return fmt.Errorf("compress log %s: %w", old, err)
			}
		}
	}
	target := path + "." + now.UTC().Format(rotatedFormat)
	if err := os.Rename(path, target); err != nil {
		return err
	}
	if err := reopen(ctx); err != nil {
		// The container must not write into a file that is taken for finished.
		return errors.Join(fmt.Errorf("reopen log %s: %w", path, err), os.Rename(target, path))
	}
	return nil
}

// rotatedLogs lists the older files of a log, the oldest first, and removes what a broken-off compression left.
func rotatedLogs(path string) ([]string, error) {
	all, err := filepath.Glob(path + ".*")
	if err != nil {
		return nil, err
	}
	var logs []string
	for _, name := range all {
		whole, isCompressed := strings.CutSuffix(name, compressed)
		switch {
		case strings.HasSuffix(name, unfinished), isCompressed && slices.Contains(all, whole):
			if err := os.Remove(name); err != nil {
				return nil, err
			}
		default:
			logs = append(logs, name)
		}
	}
	slices.Sort(logs)
	return logs, nil
}

func compress(path string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	temporary := path + unfinished
	out, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	writer := gzip.NewWriter(out)
	_, copyErr := io.Copy(writer, in)
	if err := errors.Join(copyErr, writer.Close(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := os.Rename(temporary, path+compressed); err != nil {
		return err
	}
	return os.Remove(path)
}
