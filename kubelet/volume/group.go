package volume

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Modes that a pod's group gets (upstream's SetVolumeOwnership): files readable, and writable unless they are the
// kubelet's own; folders enterable, their new files the group's too.
const (
	groupReadWrite = 0o660
	groupRead      = 0o440
	groupEnter     = 0o110
)

// setGroup gives everything below the path to the group; nil does nothing.
func setGroup(root string, group *int64, readOnly bool) error {
	if group == nil {
		return nil
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if err := os.Lchown(path, -1, int(*group)); err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil
		}
		add := fs.FileMode(groupReadWrite)
		if readOnly {
			add = groupRead
		}
		mode := info.Mode() | add
		if info.IsDir() {
			mode |= fs.ModeSetgid | groupEnter
		}
		return os.Chmod(path, mode)
	})
}
