package runtime

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PodLogDirectory is where all logs of a pod lie: ROOT/NAMESPACE_NAME_UID.
func PodLogDirectory(root, namespace, name string, uid types.UID) string {
	return filepath.Join(root, namespace+"_"+name+"_"+string(uid))
}

// ContainerLogDirectory is where the logs of one container lie, one file a restart.
func ContainerLogDirectory(root string, pod *v1.Pod, container string) string {
	return filepath.Join(PodLogDirectory(root, pod.Namespace, pod.Name, pod.UID), container)
}

// containerLogPath is the log of one restart, relative to the sandbox's log directory.
func containerLogPath(container string, restartCount int) string {
	return filepath.Join(container, strconv.Itoa(restartCount)+".log")
}

// RestartCountFromLogs derives the next restart count from the log files in a container's log directory
// (0.log, 1.log, 1.log.20261130-120000…), for the case that the runtime forgot earlier containers. It returns 0
// when the directory doesn't exist.
func RestartCountFromLogs(directory string) (int, error) {
	entries, err := os.ReadDir(directory)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	next := 0
	for _, entry := range entries {
		count, _, found := strings.Cut(entry.Name(), ".log")
		if number, err := strconv.Atoi(count); found && err == nil && number >= next {
			next = number + 1
		}
	}
	return next, nil
}
