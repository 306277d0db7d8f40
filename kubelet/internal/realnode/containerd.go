package realnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// startPatience is how long containerd has to answer.
const startPatience = 30 * time.Second

// daemon is the one containerd of the test process.
var daemon struct {
	mu      sync.Mutex
	process *exec.Cmd
	started bool
}

// prepare makes the child's namespaces usable.
func prepare() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to myself: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount proc: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(loopback)
}

func folder() string { return os.Getenv(insideVariable) }

func socket() string { return filepath.Join(folder(), "containerd.sock") }

// CgroupRoot is the control group of the tests' pods.
func CgroupRoot() string { return os.Getenv(groupVariable) }

// Services returns the runtime's services; the first call starts containerd and loads the images busybox:1.37 and
// nginx:1.27.
func Services(t testing.TB) (runtimeapi.RuntimeServiceClient, runtimeapi.ImageServiceClient) {
	t.Helper()
	daemon.mu.Lock()
	defer daemon.mu.Unlock()
	if !daemon.started {
		if err := firstStart(); err != nil {
			t.Fatal(err)
		}
		daemon.started = true
	}
	connection, err := grpc.NewClient("unix://"+socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	return runtimeapi.NewRuntimeServiceClient(connection), runtimeapi.NewImageServiceClient(connection)
}

func firstStart() error {
	programs, err := bin()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder(), "config.toml"), []byte(settings(programs)), 0o600); err != nil {
		return err
	}
	network := filepath.Join(folder(), "cni")
	if err := os.MkdirAll(network, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(network, "10-test.conflist"), []byte(networkSettings()), 0o600); err != nil {
		return err
	}
	if err := startContainerd(programs); err != nil {
		return err
	}
	for _, image := range []string{"pause", "busybox", "nginx"} {
		archive := filepath.Join(programs, "images", image+".tar")
		output, err := exec.Command(filepath.Join(programs, "ctr"), "-a", socket(), "-n", "k8s.io", "images", "import", archive).CombinedOutput()
		if err != nil {
			return fmt.Errorf("load %s: %w: %s", archive, err, output)
		}
	}
	return nil
}

func settings(programs string) string {
	return fmt.Sprintf(`version = 3
root = %q
state = %q
[grpc]
  address = %q
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "registry.k8s.io/pause:3.10.2"
[plugins.'io.containerd.cri.v1.runtime']
  disable_apparmor = true
  restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = [%q]
  conf_dir = %q
[plugins.'io.containerd.nri.v1.nri']
  disable = true
`, filepath.Join(folder(), "root"), filepath.Join(folder(), "state"), socket(), filepath.Join(programs, "cni"), filepath.Join(folder(), "cni"))
}

func networkSettings() string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "test", "plugins": [{"type": "ptp", "ipam": {"type": "host-local",
 "dataDir": %q, "ranges": [[{"subnet": "10.244.9.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}`, filepath.Join(folder(), "ipam"))
}

func startContainerd(programs string) error {
	log, err := os.OpenFile(filepath.Join(folder(), "containerd.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	process := exec.Command(filepath.Join(programs, "containerd"), "-c", filepath.Join(folder(), "config.toml"))
	process.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"))
	process.Stdout, process.Stderr = log, log
	err = errors.Join(process.Start(), log.Close())
	if err != nil {
		return err
	}
	daemon.process = process
	return awaitContainerd()
}

func awaitContainerd() error {
	connection, err := grpc.NewClient("unix://"+socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	_, err = runtimeapi.NewRuntimeServiceClient(connection).Version(ctx, &runtimeapi.VersionRequest{}, grpc.WaitForReady(true))
	return errors.Join(err, connection.Close())
}

// Kill kills containerd. Containers go on running.
func Kill(t testing.TB) {
	t.Helper()
	if err := stopContainerd(); err != nil {
		t.Fatal(err)
	}
}

// Restart starts containerd again after Kill.
func Restart(t testing.TB) {
	t.Helper()
	programs, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	daemon.mu.Lock()
	defer daemon.mu.Unlock()
	if err := startContainerd(programs); err != nil {
		t.Fatal(err)
	}
}

func stopContainerd() error {
	daemon.mu.Lock()
	defer daemon.mu.Unlock()
	if daemon.process == nil {
		return nil
	}
	if err := daemon.process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	var exit *exec.ExitError
	if err := daemon.process.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	daemon.process = nil
	return nil
}
