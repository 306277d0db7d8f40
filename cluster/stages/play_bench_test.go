package stages_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/cluster/stages"
)

// BenchmarkPlay is the start of pods that are bound already: watch, choice, patch and the API server's part in them, on all processors.
func BenchmarkPlay(b *testing.B) {
	all, err := stages.Load("testdata/pods.yaml", "testdata/crash.yaml")
	if err != nil {
		b.Fatal(err)
	}
	all[0].Spec.Next.Event = nil // as kwok's quickest stages
	c := cluster.ForTest(b, cluster.Options{Controllers: []string{}, WithoutScheduler: true, DisableAdmissionPlugins: []string{"ServiceAccount"}})
	clients, err := kubernetes.NewForConfig(c.InProcessConfig())
	if err != nil {
		b.Fatal(err)
	}
	const perNode = 100
	for i := range b.N {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("actor-%d", i)}, Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%d", i/perNode), Containers: []corev1.Container{{Name: "main", Image: "example.com/nothing:1"}},
		}}
		if _, err := clients.CoreV1().Pods("default").Create(b.Context(), pod, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	running, err := clients.CoreV1().Pods("default").Watch(b.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
	if err != nil {
		b.Fatal(err)
	}
	defer running.Stop()
	player, err := stages.New(stages.Options{Stages: all, Config: c.InProcessConfig(), Node: cluster.NodeTemplate{}.Find})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	before := processorTime(b)
	b.ResetTimer()
	go func() { ended <- player.Run(ctx) }()
	for range b.N {
		<-running.ResultChan()
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/pod")
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
}

// processorTime is what the process has used, whoever else uses the machine.
func processorTime(b *testing.B) time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
