package island

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/cluster/island/process"
)

// rollouts is how many rollouts are disturbed, each by one kill.
const rollouts = 20

// Not parallel: it wants the machine for itself.
//
// While a rollout runs, one of everything is killed in turn. Each rollout must complete, nothing that the server
// acknowledged may be lost, and no container may run twice.
func TestRolloutsSurviveKills(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("clusters of containers need root: run the tests as root")
	}
	made := create(t, "test-kills", 2)
	const replicas = 4
	made.deploy(replicas)
	made.awaitAvailable(replicas)
	victims := []func(node string){
		func(string) { made.kill("server") },
		func(node string) { made.killService(node, "kogge", "kubelet") },
		func(node string) { made.killService(node, "containerd", "--config") },
		made.kill,
	}
	nodes := made.spec.NodeList()
	for round := range rollouts {
		began := time.Now()
		generation := made.roll(round)
		made.acknowledge(round)
		made.awaitUpdated(generation, int32(round/len(victims)%replicas))
		victims[round%len(victims)](nodes[round/len(victims)%len(nodes)].Name)
		made.awaitRollout(generation, replicas)
		made.checkAcknowledged(round)
		made.checkRunOnce()
		t.Logf("rollout %d: %s", round, time.Since(began).Round(10*time.Millisecond))
	}
}

// roll changes the pods' template, and returns the generation that this makes.
func (c *cluster) roll(round int) int64 {
	c.t.Helper()
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"round":"%d"}}}}}`, round)
	deployment, err := c.client.AppsV1().Deployments(namespace).Patch(c.t.Context(), app, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return deployment.Generation
}

func note(round int) string { return fmt.Sprintf("acknowledged-%d", round) }

func (c *cluster) acknowledge(round int) {
	c.t.Helper()
	written := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: note(round)}, Data: map[string]string{"round": fmt.Sprint(round)}}
	if _, err := c.client.CoreV1().ConfigMaps(namespace).Create(c.t.Context(), written, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) checkAcknowledged(last int) {
	c.t.Helper()
	for round := range last + 1 {
		read, err := c.client.CoreV1().ConfigMaps(namespace).Get(c.t.Context(), note(round), metav1.GetOptions{})
		if err != nil || read.Data["round"] != fmt.Sprint(round) {
			c.t.Errorf("what was acknowledged in round %d: %v, %v", round, read.Data, err)
		}
	}
}

// awaitUpdated waits until the rollout has begun, with so many pods of the new template at least.
func (c *cluster) awaitUpdated(generation int64, updated int32) {
	c.t.Helper()
	c.within("the rollout begins", func(ctx context.Context) error {
		deployment, err := c.client.AppsV1().Deployments(namespace).Get(ctx, app, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if deployment.Status.ObservedGeneration < generation || deployment.Status.UpdatedReplicas < updated {
			return fmt.Errorf("generation %d seen, %d pods updated", deployment.Status.ObservedGeneration, deployment.Status.UpdatedReplicas)
		}
		return nil
	})
}

func (c *cluster) awaitRollout(generation int64, replicas int32) {
	c.t.Helper()
	c.within("the rollout completes", func(ctx context.Context) error {
		deployment, err := c.client.AppsV1().Deployments(namespace).Get(ctx, app, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status := deployment.Status
		if status.ObservedGeneration < generation || status.UpdatedReplicas != replicas || status.AvailableReplicas != replicas || status.Replicas != replicas {
			return fmt.Errorf("generation %d of %d seen; of %d pods %d are updated, %d available, %d there", status.ObservedGeneration, generation,
				replicas, status.UpdatedReplicas, status.AvailableReplicas, status.Replicas)
		}
		return nil
	})
}

// killService ends one of a node's services, and waits until it runs again.
func (c *cluster) killService(node string, command ...string) {
	c.t.Helper()
	var before int
	c.within(command[0]+" runs", func(context.Context) error {
		var err error
		before, err = c.service(node, command)
		return err
	})
	if err := unix.Kill(before, unix.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	c.within(command[0]+" comes back", func(context.Context) error {
		now, err := c.service(node, command)
		if err == nil && now == before {
			return errors.New("it has not ended")
		}
		return err
	})
}

// service finds a child of a node's first process by how its command line begins.
func (c *cluster) service(node string, command []string) (int, error) {
	c.t.Helper()
	return childOf(c.record(node).PID, command)
}

func childOf(parent int, command []string) (int, error) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		status, err := os.ReadFile(filepath.Join(entry, "status"))
		if err != nil || !strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", parent)) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(entry, "cmdline"))
		if err != nil || !bytes.HasPrefix(line, []byte(strings.Join(command, "\x00"))) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(entry), "%d", &pid); err != nil {
			return 0, err
		}
		return pid, nil
	}
	return 0, fmt.Errorf("no %v below process %d", command, parent)
}

// checkRunOnce asks each node's runtime: no container of any pod may run twice.
func (c *cluster) checkRunOnce() {
	c.t.Helper()
	for _, node := range c.spec.NodeList() {
		var running *runtimeapi.ListContainersResponse
		c.within("the runtime of "+node.Name+" answers", func(ctx context.Context) error {
			var err error
			running, err = runningContainers(ctx, c.record(node.Name))
			return err
		})
		seen := map[string]string{}
		for _, container := range running.Containers {
			owner := container.Labels["io.kubernetes.pod.uid"] + "/" + container.Metadata.Name
			if other := seen[owner]; other != "" {
				c.t.Errorf("container %s runs twice on %s: %s, %s", owner, node.Name, other, container.Id)
			}
			seen[owner] = container.Id
		}
	}
}

func runningContainers(ctx context.Context, node process.Record) (*runtimeapi.ListContainersResponse, error) {
	target := fmt.Sprintf("unix:///proc/%d/root/run/containerd/containerd.sock", node.PID)
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	listed, err := runtimeapi.NewRuntimeServiceClient(connection).ListContainers(ctx, &runtimeapi.ListContainersRequest{
		Filter: &runtimeapi.ContainerFilter{State: &runtimeapi.ContainerStateValue{State: runtimeapi.ContainerState_CONTAINER_RUNNING}},
	})
	return listed, errors.Join(err, connection.Close())
}
