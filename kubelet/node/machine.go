package node

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Machine is what a node is made of.
type Machine struct {
	Info v1.NodeSystemInfo
	// Capacity without the number of pods.
	Capacity v1.ResourceList
	// Reserved is subtracted from the capacity: what is kept free so that the machine stays usable.
	Reserved v1.ResourceList
}

// reservedMemory is the free memory below which upstream's kubelet evicts pods (100Mi), reservedDisk the part of
// the disk.
const (
	reservedMemory      = 100 << 20
	reservedDiskPerCent = 10
)

// Measure reads the machine that the process runs on. root is the folder whose file system holds the pods' data.
func Measure(root string) (Machine, error) {
	memory, swap, err := readMemory()
	if err != nil {
		return Machine{}, err
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(root, &disk); err != nil {
		return Machine{}, fmt.Errorf("size of the disk of %s: %w", root, err)
	}
	bytes := int64(disk.Blocks) * disk.Bsize
	machine := Machine{
		Info: systemInfo(),
		Capacity: v1.ResourceList{
			v1.ResourceCPU:              *resource.NewQuantity(int64(runtime.NumCPU()), resource.DecimalSI),
			v1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
			v1.ResourceEphemeralStorage: *resource.NewQuantity(bytes, resource.BinarySI),
		},
		Reserved: v1.ResourceList{
			v1.ResourceMemory:           *resource.NewQuantity(reservedMemory, resource.BinarySI),
			v1.ResourceEphemeralStorage: *resource.NewQuantity(bytes*reservedDiskPerCent/100, resource.BinarySI),
		},
	}
	if swap > 0 {
		machine.Info.Swap = &v1.NodeSwapStatus{Capacity: &swap}
	}
	return machine, addHugePages(machine.Capacity)
}

func readMemory() (memory, swap int64, err error) {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, 0, fmt.Errorf("size of memory: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kibibytes, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			continue
		}
		switch fields[0] {
		case "MemTotal:":
			memory = kibibytes << 10
		case "SwapTotal:":
			swap = kibibytes << 10
		}
	}
	return memory, swap, lines.Err()
}

// addHugePages adds a resource for each size of huge pages that the kernel has, even if none are set aside.
func addHugePages(capacity v1.ResourceList) error {
	folders, err := filepath.Glob("/sys/kernel/mm/hugepages/hugepages-*kB")
	if err != nil {
		return err
	}
	for _, folder := range folders {
		size, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(folder), "hugepages-"), "kB"), 10, 64)
		if err != nil {
			continue
		}
		pages, err := strconv.ParseInt(readLine(filepath.Join(folder, "nr_hugepages")), 10, 64)
		if err != nil {
			continue
		}
		quantity := resource.NewQuantity(size<<10, resource.BinarySI)
		capacity[v1.ResourceName(v1.ResourceHugePagesPrefix+quantity.String())] = *resource.NewQuantity(pages*size<<10, resource.BinarySI)
	}
	return nil
}

func systemInfo() v1.NodeSystemInfo {
	var name unix.Utsname
	kernel := ""
	if unix.Uname(&name) == nil {
		kernel = unix.ByteSliceToString(name.Release[:])
	}
	info := v1.NodeSystemInfo{
		MachineID:       readLine("/etc/machine-id"),
		SystemUUID:      readLine("/sys/class/dmi/id/product_uuid"),
		BootID:          readLine("/proc/sys/kernel/random/boot_id"),
		KernelVersion:   kernel,
		OSImage:         osImage(),
		OperatingSystem: runtime.GOOS,
		Architecture:    runtime.GOARCH,
	}
	if info.MachineID == "" {
		info.MachineID = info.BootID
	}
	if info.SystemUUID == "" {
		info.SystemUUID = info.MachineID
	}
	return info
}

func osImage() string {
	data, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "Linux"
	}
	for line := range strings.Lines(string(data)) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); found {
			return strings.Trim(value, `"`)
		}
	}
	return "Linux"
}

// readLine returns the first line of a file, or "": what these files tell is for people to read.
func readLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// Simulated is a machine that exists only by its capacity.
func Simulated(name string, capacity v1.ResourceList) Machine {
	return Machine{
		Info: v1.NodeSystemInfo{
			MachineID: name, SystemUUID: name, BootID: name, KernelVersion: "simulated", OSImage: "simulated",
			OperatingSystem: "linux", Architecture: runtime.GOARCH,
		},
		Capacity: capacity,
	}
}
