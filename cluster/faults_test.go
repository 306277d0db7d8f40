package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/cluster/faults"
)

// bare is a cluster without controllers; sorry is a client that is told every error: it doesn't try again by itself.
func bare(t *testing.T, o cluster.Options) (c *cluster.Cluster, sorry kubernetes.Interface) {
	t.Helper()
	o.Controllers, o.WithoutScheduler = []string{}, true
	c, _ = start(t, o)
	config := c.RESTConfig()
	config.UserAgent = "sorry"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return impatient{next} })
	sorry, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c, sorry
}

// impatient hides the server's word on when to try again.
type impatient struct{ next http.RoundTripper }

func (i impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := i.next.RoundTrip(r)
	if err == nil {
		res.Header.Del("Retry-After")
	}
	return res, err
}

func TestFaultsFallOnTheirRequests(t *testing.T) {
	t.Parallel()
	c, clients := bare(t, cluster.Options{Requests: 100})
	ctx := t.Context()
	maps := clients.CoreV1().ConfigMaps("default")
	created, err := maps.Create(ctx, configMap("a", "1"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conflict := c.Faults().Add(faults.Fault{Match: faults.Match{UserAgent: "sorry", Verbs: []string{"update"}, Resources: []string{"configmaps"}}, Count: 1, Error: faults.Conflict()})
	if _, err := maps.Update(ctx, created, metav1.UpdateOptions{}); !apierrors.IsConflict(err) || conflict.Hits() != 1 {
		t.Errorf("%v, %d hits", err, conflict.Hits())
	}
	if _, err := maps.Update(ctx, created, metav1.UpdateOptions{}); err != nil {
		t.Errorf("the second of one: %v", err)
	}
	much := c.Faults().Add(faults.Fault{Match: faults.Match{Resources: []string{"secrets"}}, Error: faults.TooManyRequests(1)})
	if _, err := clients.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("%v", err)
	}
	much.Remove()
	if _, err := clients.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("after the fault: %v", err)
	}
	// Its answer is lost, and its work is done.
	c.Faults().Add(faults.Fault{Match: faults.Match{Verbs: []string{"create"}}, Error: faults.Timeout(), Late: true})
	if _, err := maps.Create(ctx, configMap("late", "1"), metav1.CreateOptions{}); !apierrors.IsTimeout(err) {
		t.Errorf("%v", err)
	}
	if _, err := maps.Get(ctx, "late", metav1.GetOptions{}); err != nil {
		t.Errorf("was not made: %v", err)
	}
	c.Faults().Clear()
	c.Faults().Add(faults.Fault{Match: faults.Match{Name: "dropped"}, Drop: true})
	var status apierrors.APIStatus
	if _, err := maps.Get(ctx, "dropped", metav1.GetOptions{}); err == nil || errors.As(err, &status) {
		t.Errorf("answered: %v", err)
	}
	c.Faults().Clear()
	var codes []int
	for _, e := range c.Requests() {
		if e.UserAgent == "sorry" && e.Resource == "configmaps" && e.Verb == "update" {
			codes = append(codes, e.Code)
			if e.User != "kubernetes-admin" || e.Name != "a" || e.Namespace != "default" || e.Duration <= 0 || e.Path != "/api/v1/namespaces/default/configmaps/a" {
				t.Errorf("logged as %+v", e)
			}
		}
	}
	if fmt.Sprint(codes) != "[409 200]" {
		t.Errorf("codes %v", codes)
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	c, clients := bare(t, cluster.Options{})
	slow := c.Faults().Add(faults.Fault{Match: faults.Match{UserAgent: "sorry"}, Delay: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := clients.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		done <- err
	}()
	eventually(t, "the request is held up", func(context.Context) (bool, string) { return slow.Hits() == 1, "" })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWatchesAreDropped(t *testing.T) {
	t.Parallel()
	c, clients := bare(t, cluster.Options{})
	w, err := clients.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if n := c.Faults().DropWatches(faults.Match{Resources: []string{"secrets"}, UserAgent: "sorry"}); n != 0 {
		t.Errorf("%d watches of secrets", n)
	}
	if n := c.Faults().DropWatches(faults.Match{Resources: []string{"configmaps"}, UserAgent: "sorry"}); n != 1 {
		t.Errorf("%d watches were dropped", n)
	}
	for range w.ResultChan() { // ends, or the test's time is up
	}
	c.Faults().Add(faults.Fault{Match: faults.Match{Verbs: []string{"watch"}, UserAgent: "sorry"}, EndAfter: time.Millisecond})
	if w, err = clients.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	for range w.ResultChan() {
	}
}

func TestStoreIsGone(t *testing.T) {
	t.Parallel()
	c, clients := bare(t, cluster.Options{})
	ctx := t.Context()
	maps := clients.CoreV1().ConfigMaps("default")
	if _, err := maps.Create(ctx, configMap("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); err != nil { // what isn't seen yet can't be remembered
		t.Fatal(err)
	}
	back := c.LoseStore()
	if _, err := maps.Create(ctx, configMap("b", "1"), metav1.CreateOptions{}); err == nil {
		t.Error("written to a store that is gone")
	}
	if _, err := maps.List(ctx, metav1.ListOptions{}); err == nil {
		t.Error("a fresh read of a store that is gone")
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{ResourceVersion: "0"}); err != nil {
		t.Errorf("a read that may be old: %v", err)
	}
	if code, body := get(t, c, "/readyz"); code == http.StatusOK {
		t.Errorf("ready: %s", body)
	}
	back()
	if _, err := maps.Create(ctx, configMap("b", "1"), metav1.CreateOptions{}); err != nil {
		t.Errorf("after it came back: %v", err)
	}
	if code, body := get(t, c, "/readyz"); code != http.StatusOK {
		t.Errorf("not ready: %s", body)
	}
}

func get(t *testing.T, c *cluster.Cluster, path string) (int, string) {
	t.Helper()
	client, err := rest.HTTPClientFor(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Get(c.RESTConfig().Host + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// TestNodeIsLostAndComesBack on a clock that the test moves: the pods of a lost node move to the other.
func TestNodeIsLostAndComesBack(t *testing.T) {
	t.Parallel()
	clock := cluster.NewClock(time.Time{})
	c, clients := start(t, cluster.Options{Clock: clock, Nodes: 2})
	ctx := t.Context()
	ready := func(name string, want corev1.ConditionStatus, step time.Duration) {
		t.Helper()
		eventually(t, fmt.Sprintf("%s is ready: %s", name, want), func(ctx context.Context) (bool, string) {
			clock.Step(step)
			n, err := clients.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			for _, cond := range n.Status.Conditions {
				if cond.Type == corev1.NodeReady {
					return cond.Status == want && (want != corev1.ConditionTrue || len(n.Spec.Taints) == 0), cond.String()
				}
			}
			return false, "no condition"
		})
	}
	ready("node-0", corev1.ConditionTrue, 0)
	ready("node-1", corev1.ConditionTrue, 0)
	back := c.LoseNode("node-0")
	ready("node-0", corev1.ConditionUnknown, time.Second)
	if n, err := clients.CoreV1().Nodes().Get(ctx, "node-1", metav1.GetOptions{}); err != nil || len(n.Spec.Taints) > 0 {
		t.Errorf("the other node has %v, %v", n.Spec.Taints, err)
	}
	back()
	ready("node-0", corev1.ConditionTrue, time.Second)
}

// TestWebhooksFail: a fault falls on the calls to webhooks, as the webhook's policy has it.
func TestWebhooksFail(t *testing.T) {
	t.Parallel()
	c, clients := bare(t, cluster.Options{})
	ctx := t.Context()
	hook := admissionregistrationv1.ValidatingWebhook{Name: "slow.example.com", AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To[int32](1),
		SideEffects:  ptr.To(admissionregistrationv1.SideEffectClassNone),
		ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/validate")},
		Rules: []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{"CREATE"},
			Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}}}
	if _, err := clients.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "slow"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{hook}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	slow := c.Faults().Add(faults.Fault{Match: faults.Match{Webhook: "127.0.0.1:*/validate"}, Count: 1, Delay: time.Hour})
	if _, err := clients.CoreV1().ConfigMaps("default").Create(ctx, configMap("a", "1"), metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "context deadline exceeded") || slow.Hits() != 1 {
		t.Errorf("a webhook that takes too long: %v, %d hits", err, slow.Hits())
	}
	c.Faults().Add(faults.Fault{Match: faults.Match{Webhook: "*"}, Drop: true})
	if _, err := clients.CoreV1().ConfigMaps("default").Create(ctx, configMap("a", "1"), metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "connection reset") {
		t.Errorf("a webhook whose connection breaks: %v", err)
	}
}
