package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names of the layout. Names that begin so can't be names of files.
const (
	dataLink    = "..data"
	newDataLink = "..data_tmp"
	reserved    = ".."
)

// File is one file of a set.
type File struct {
	Data []byte
	Mode fs.FileMode
	// User owns the file; nil: the process's user.
	User *int64
}

// Write makes the folder, which must exist, hold exactly these files, by slash-separated relative paths. finish is
// called with the folder of the new files before they are seen. It returns false if nothing had to be done.
func Write(folder string, files map[string]File, now time.Time, finish func(written string) error) (changed bool, err error) {
	for name := range files {
		if err := validate(name); err != nil {
			return false, err
		}
	}
	old, err := os.Readlink(filepath.Join(folder, dataLink))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if old != "" {
		same, err := holds(filepath.Join(folder, old), files)
		if err != nil || same {
			return false, err
		}
	}
	written, err := writeSet(folder, files, now)
	if err != nil {
		return false, err
	}
	if err := finish(filepath.Join(folder, written)); err != nil {
		return false, errors.Join(err, os.RemoveAll(filepath.Join(folder, written)))
	}
	if err := switchTo(folder, written); err != nil {
		return false, err
	}
	if err := link(folder, files); err != nil {
		return false, err
	}
	if old != "" {
		return true, os.RemoveAll(filepath.Join(folder, old))
	}
	return true, nil
}

func validate(name string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." || strings.HasPrefix(name, reserved) {
		return fmt.Errorf("invalid path: %q", name)
	}
	return nil
}

// holds tells whether the folder holds exactly these files with these contents.
func holds(folder string, files map[string]File) (bool, error) {
	found := 0
	err := filepath.WalkDir(folder, func(full string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, full)
		if err != nil {
			return err
		}
		file, wanted := files[filepath.ToSlash(name)]
		if !wanted {
			return errDiffers
		}
		data, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, file.Data) {
			return errDiffers
		}
		found++
		return nil
	})
	if errors.Is(err, errDiffers) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return found == len(files), err
}

var errDiffers = errors.New("the files differ")

// writeSet writes the files into a new folder and returns its name.
func writeSet(folder string, files map[string]File, now time.Time) (string, error) {
	full, err := os.MkdirTemp(folder, now.UTC().Format("..2006_01_02_15_04_05."))
	if err != nil {
		return "", err
	}
	if err := os.Chmod(full, 0o755); err != nil { // 0755 whatever the umask
		return "", err
	}
	for name, file := range files {
		target := filepath.Join(full, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(target, file.Data, file.Mode); err != nil {
			return "", err
		}
		if err := os.Chmod(target, file.Mode); err != nil {
			return "", err
		}
		if file.User != nil {
			if err := os.Chown(target, int(*file.User), -1); err != nil {
				return "", err
			}
		}
	}
	return filepath.Base(full), nil
}

func switchTo(folder, written string) error {
	temporary := filepath.Join(folder, newDataLink)
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // left by a write that was broken off
	}
	if err := os.Symlink(written, temporary); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(folder, dataLink))
}

// link makes one link for each first part of a path, and removes those whose files are gone.
func link(folder string, files map[string]File) error {
	var first []string
	for name := range files {
		part, _, _ := strings.Cut(path.Clean(name), "/")
		if !slices.Contains(first, part) {
			first = append(first, part)
		}
	}
	for _, part := range first {
		err := os.Symlink(filepath.Join(dataLink, part), filepath.Join(folder, part))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); !strings.HasPrefix(name, reserved) && !slices.Contains(first, name) {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
