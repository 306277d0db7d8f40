package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	v1 "k8s.io/api/core/v1"
)

// checkHostPath makes what is to be made, and checks that the path is of the kind that the pod expects.
func checkHostPath(source *v1.HostPathVolumeSource) error {
	kind := v1.HostPathUnset
	if source.Type != nil {
		kind = *source.Type
	}
	info, err := os.Stat(source.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeHostPath(source.Path, kind)
	}
	if err != nil {
		return err
	}
	mode := info.Mode()
	ok, what := true, ""
	switch kind {
	case v1.HostPathDirectory, v1.HostPathDirectoryOrCreate:
		ok, what = mode.IsDir(), "a directory"
	case v1.HostPathFile, v1.HostPathFileOrCreate:
		ok, what = mode.IsRegular(), "a file"
	case v1.HostPathSocket:
		ok, what = mode&fs.ModeSocket != 0, "a socket file"
	case v1.HostPathCharDev:
		ok, what = mode&fs.ModeCharDevice != 0, "a character device"
	case v1.HostPathBlockDev:
		ok, what = mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0, "a block device"
	}
	if !ok {
		return fmt.Errorf("hostPath type check failed: %s is not %s", source.Path, what)
	}
	return nil
}

func makeHostPath(path string, kind v1.HostPathType) error {
	switch kind {
	case v1.HostPathUnset:
		return nil // the runtime makes a folder
	case v1.HostPathDirectoryOrCreate:
		return os.MkdirAll(path, 0o755)
	case v1.HostPathFileOrCreate:
		file, err := os.OpenFile(path, os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		return file.Close()
	case v1.HostPathDirectory:
		return fmt.Errorf("hostPath type check failed: %s is not a directory", path)
	case v1.HostPathFile:
		return fmt.Errorf("hostPath type check failed: %s is not a file", path)
	case v1.HostPathSocket:
		return fmt.Errorf("hostPath type check failed: %s is not a socket file", path)
	case v1.HostPathCharDev:
		return fmt.Errorf("hostPath type check failed: %s is not a character device", path)
	case v1.HostPathBlockDev:
		return fmt.Errorf("hostPath type check failed: %s is not a block device", path)
	default:
		return fmt.Errorf("%s is an invalid volume type", kind)
	}
}
