package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/scheduler"
	"github.com/kogge-dev/kogge/scheduler/framework"
	"github.com/kogge-dev/kogge/tools/genuine"
)

// podsToPlace is how many pods are placed in each random cluster.
const podsToPlace = 16

// comparePlacing lets the genuine scheduler place pods in random clusters, asking ours before each what it would do.
func comparePlacing(ctx context.Context, bin, dir string, clusters uint64, report func(string, []string)) (err error) {
	c, err := cluster.Start(ctx, cluster.Options{Controllers: []string{
		"serviceaccount-controller", "persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller"}, WithoutScheduler: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	content, err := c.Kubeconfig()
	if err != nil {
		return err
	}
	g := &genuine.ControlPlane{Bin: bin, Dir: filepath.Join(dir, "placing")}
	if err := os.MkdirAll(g.Dir, 0o700); err != nil {
		return err
	}
	kubeconfig := filepath.Join(g.Dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := errors.Join(makeClasses(ctx, client), makeStorageClasses(ctx, client)); err != nil {
		return err
	}
	if err := g.StartSchedulerOn(kubeconfig); err != nil {
		return err
	}
	defer g.End()
	p := &placing{client: client}
	for seed := range clusters {
		if err := p.play(ctx, seed); err != nil {
			return fmt.Errorf("random cluster %d: %w", seed, err)
		}
	}
	report(fmt.Sprintf("of %d pods in random clusters the genuine scheduler makes what ours would: %d placed, %d refused, %d of these with room made for them",
		p.placed+p.refused, p.placed, p.refused, p.preempting), p.differences)
	return nil
}

// classes are the priorities of random pods.
var classes = map[string]int32{"low": 10, "middle": 100, "high": 1000, "polite": 1000}

func makeClasses(ctx context.Context, client kubernetes.Interface) error {
	for name, value := range classes {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		if name == "polite" {
			class.PreemptionPolicy = ptr.To(corev1.PreemptNever)
		}
		if _, err := client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
}

// placing places pods in one random cluster after the other.
type placing struct {
	client                      kubernetes.Interface
	placed, refused, preempting int
	differences                 []string
}

func (p *placing) play(ctx context.Context, seed uint64) error {
	random := &chance{rand.New(rand.NewPCG(seed, 1)), fmt.Sprintf("s%d-", seed)}
	if err := p.clear(ctx); err != nil {
		return err
	}
	if err := random.populate(ctx, p.client); err != nil {
		return err
	}
	if err := p.settle(ctx, time.Second); err != nil { // volumes are being bound
		return err
	}
	for i := range podsToPlace {
		if err := p.settle(ctx, 60*time.Millisecond); err != nil {
			return err
		}
		objects, err := p.objects(ctx)
		if err != nil {
			return err
		}
		made, err := p.client.CoreV1().Pods("default").Create(ctx, random.pod(fmt.Sprintf("new-%d", i)), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		would, err := scheduler.Judge(nil, objects, made)
		if err != nil {
			return err
		}
		done, err := p.verdict(ctx, made.Name)
		if err != nil {
			return err
		}
		difference := p.hold(would, done)
		if difference == "" && would.Preemption != nil && would.Preemption.Node != "" {
			if difference, err = p.victims(ctx, would.Preemption, made.Name); err != nil {
				return err
			}
		}
		if difference != "" {
			p.differences = append(p.differences, fmt.Sprintf("   cluster %d, pod %s: %s", seed, made.Name, difference))
		}
		if done.Spec.NodeName == "" {
			err = p.forget(ctx, made.Name)
		} else {
			err = random.run(ctx, p.client, done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle lets the genuine scheduler's watches catch up: nothing tells from outside that they have.
func (p *placing) settle(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// verdict waits until the genuine scheduler has placed or refused a pod.
func (p *placing) verdict(ctx context.Context, name string) (pod *corev1.Pod, err error) {
	err = wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		pod, err = p.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && (pod.Spec.NodeName != "" || conditionOf(pod) != nil || waits(pod)), err
	})
	if err != nil {
		return nil, fmt.Errorf("pod %s is neither placed nor refused: %w", name, err)
	}
	return pod, nil
}

// waits says that a pod waits on its node for a volume that nobody makes.
func waits(pod *corev1.Pod) bool {
	return pod.Status.NominatedNodeName != "" && conditionOf(pod) == nil
}

func conditionOf(pod *corev1.Pod) *corev1.PodCondition {
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	if at < 0 {
		return nil
	}
	return &pod.Status.Conditions[at]
}

// hold compares what was done with what ours would have done; "" when it is the same or as good.
func (p *placing) hold(would *scheduler.Verdict, done *corev1.Pod) string {
	node := done.Spec.NodeName
	if waits(done) {
		node = done.Status.NominatedNodeName
	}
	if node != "" {
		p.placed++
		if !slices.Contains(would.Nodes, node) {
			return fmt.Sprintf("genuine chose %s, ours one of %v (%s)", node, would.Nodes, would.Message)
		}
		return ""
	}
	if p.refused++; would.Preemption != nil && would.Preemption.Node != "" {
		p.preempting++
	}
	message := conditionOf(done).Message
	if would.Message == "" {
		return fmt.Sprintf("genuine refused it: %s; ours would choose one of %v", message, would.Nodes)
	}
	equals := []string{would.Message}
	if would.Preemption != nil && would.Preemption.Node != "" {
		for _, other := range would.Preemption.Alternatives {
			one := strings.Replace(would.Message, " on node "+would.Preemption.Node+",", " on node "+other.Node+",", 1)
			equals = append(equals, strings.Replace(one, fmt.Sprintf("preempting %d ", len(would.Preemption.Victims)), fmt.Sprintf("preempting %d ", len(other.Victims)), 1))
		}
	}
	if !slices.Contains(equals, message) {
		return fmt.Sprintf("genuine says\n      %s\n   ours\n      %s", message, strings.Join(equals, "\n      "))
	}
	return ""
}

// victims compares who has to go for a pod.
func (p *placing) victims(ctx context.Context, would *framework.Preemption, name string) (string, error) {
	var wanted []string
	for _, one := range append([]framework.Preemption{*would}, would.Alternatives...) {
		var names []string
		for _, victim := range one.Victims {
			names = append(names, victim.Name)
		}
		slices.Sort(names)
		wanted = append(wanted, one.Node+": "+strings.Join(names, " "))
	}
	var done string
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, 3*time.Second, true, func(ctx context.Context) (bool, error) {
		pods, err := p.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		var going []string
		nominated := ""
		for i := range pods.Items {
			if pods.Items[i].DeletionTimestamp != nil {
				going = append(going, pods.Items[i].Name)
			}
			if pods.Items[i].Name == name {
				nominated = pods.Items[i].Status.NominatedNodeName
			}
		}
		slices.Sort(going)
		done = nominated + ": " + strings.Join(going, " ")
		return slices.Contains(wanted, done), nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Sprintf("genuine ends %s, ours would %s", done, strings.Join(wanted, " or ")), nil
	}
	return "", err
}

// forget removes a pod that was refused, and those that were to make room for it.
func (p *placing) forget(ctx context.Context, name string) error {
	pods, err := p.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Name == name || pod.DeletionTimestamp != nil {
			if err := p.client.CoreV1().Pods("default").Delete(ctx, pod.Name, now); err != nil {
				return err
			}
		}
	}
	return nil
}
