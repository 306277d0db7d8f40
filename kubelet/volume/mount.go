package volume

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mountMemory mounts a file system in memory on the folder, unless there is one.
func mountMemory(folder string, options []string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return fmt.Errorf("look at %s: %w", folder, err)
	}
	mounted, err := isMountPoint(folder)
	if err != nil {
		return err
	}
	if mounted && stat.Type == unix.TMPFS_MAGIC {
		return nil
	}
	// Secrets must not reach a swap device; kernels before 6.4 don't know the option.
	err = unix.Mount("tmpfs", folder, "tmpfs", 0, strings.Join(append(options, "noswap"), ","))
	if errors.Is(err, unix.EINVAL) {
		err = unix.Mount("tmpfs", folder, "tmpfs", 0, strings.Join(options, ","))
	}
	if err != nil {
		return fmt.Errorf("mount memory on %s: %w", folder, err)
	}
	return nil
}

// memoryOptions are those of an emptyDir in memory: writable to all from the first moment. size is in bytes, 0 for
// no limit.
func memoryOptions(size int64, group *int64) []string {
	options := []string{"mode=0777"}
	if group != nil {
		options = []string{"mode=2777", "gid=" + strconv.FormatInt(*group, 10)}
	}
	if size > 0 {
		options = append(options, "size="+strconv.FormatInt(size, 10))
	}
	return options
}

// isMountPoint compares devices with the folder above.
func isMountPoint(folder string) (bool, error) {
	var here, above unix.Stat_t
	if err := unix.Lstat(folder, &here); err != nil {
		return false, fmt.Errorf("look at %s: %w", folder, err)
	}
	if err := unix.Lstat(folder+"/..", &above); err != nil {
		return false, fmt.Errorf("look above %s: %w", folder, err)
	}
	return here.Dev != above.Dev, nil
}

// unmountBelow unmounts everything on or below the folder, the innermost first.
func unmountBelow(folder string) error {
	points, err := mountPoints(folder)
	if err != nil {
		return err
	}
	var failures []error
	for _, point := range points {
		if err := unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EINVAL) {
			failures = append(failures, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	return errors.Join(failures...)
}

// mountPoints lists the mounts on or below the folder, the latest first.
func mountPoints(folder string) (points []string, err error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		if point := unescape(fields[4]); point == folder || below(point, folder) {
			points = append(points, point)
		}
	}
	slices.Reverse(points)
	return points, lines.Err()
}

// unescape undoes the octal escapes of mountinfo (\040 is a space).
func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

func below(path, folder string) bool { return strings.HasPrefix(path, folder+"/") }
