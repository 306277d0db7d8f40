package controllers_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/cluster/pki"
	"github.com/kogge-dev/kogge/controllers"
)

const (
	// calm is how long nobody may have written before a state counts as the last one.
	calm = 200 * time.Millisecond
	// firstCalm is how long that must be for the state that all others are held against.
	firstCalm = time.Second
	// sample is how many crashes each scenario sees, unless all are asked for.
	sample = 4
	// crowd is how many runs a cluster sees: their pods stay, and nodes have room for 110 each.
	crowd = 15
	// allCrashes is the variable of the environment that asks for every crash.
	allCrashes = "KOGGE_ALL_CRASHES"
)

// crashScenario is work that controllers do, with crashes in between.
type crashScenario struct {
	// controllers run; nil: all of them.
	controllers []string
	nodes       int
	// clock makes the controllers' time for one run; nil: real time.
	clock func() clock.WithTicker
	// act asks for the work, in the namespace of a run, and waits for each of its goals. What has no namespace is to be
	// named by world.own.
	act func(*world)
}

// own is the name of something without a namespace that belongs to this run.
func (w *world) own(name string) string { return w.ns + "-" + name }

// TestCrashes kills the controllers before and after their writes, and starts them again. The end must be that of an
// undisturbed run, and then nobody writes any more: not in calm, and not when the controllers start once more.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for name, scenario := range crashScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, scenario)
			undisturbed := s.run(t, moment{})
			for some := range slices.Chunk(moments(undisturbed.writes, os.Getenv(allCrashes) != ""), crowd) {
				if s.runs > 1 {
					s = &stage{crashScenario: scenario, want: s.want}
					s.open(t)
				}
				for _, m := range some {
					t.Run(m.String(), func(t *testing.T) { s.run(t, m) })
				}
				// The last run shows that even after the last crash nothing was left to do.
				t.Run("undisturbed", func(t *testing.T) { s.run(t, moment{}) })
			}
		})
	}
}

// stage is where the runs of a scenario take place, one after the other: a cluster whose controllers each run brings along.
type stage struct {
	crashScenario
	cluster *cluster.Cluster
	// authority signs certificates.
	authority *pki.CA
	client    kubernetes.Interface
	objects   dynamic.Interface
	runs      int
	// want is the end of the undisturbed run, nil before it.
	want []string
}

func newStage(t *testing.T, scenario crashScenario) *stage {
	t.Helper()
	s := &stage{crashScenario: scenario}
	s.open(t)
	return s
}

// open starts the stage's cluster.
func (s *stage) open(t *testing.T) {
	t.Helper()
	c, err := cluster.Start(t.Context(), cluster.Options{Nodes: s.nodes, Controllers: []string{}, WithoutScheduler: s.nodes == 0})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	s.cluster = c
	if s.authority, err = pki.NewCA("kogge"); err != nil {
		t.Fatal(err)
	}
	if s.client, err = kubernetes.NewForConfig(c.InProcessConfig()); err != nil {
		t.Fatal(err)
	}
	quiet := c.InProcessConfig()
	quiet.WarningHandler = rest.NoWarnings{} // Endpoints are deprecated, and looked at all the time
	if s.objects, err = dynamic.NewForConfig(quiet); err != nil {
		t.Fatal(err)
	}
	s.welcomeNodes(&world{T: t, client: s.client})
}

// welcomeNodes does once what the controller for the life of nodes does in every cluster: it opens ready ones to pods.
func (s *stage) welcomeNodes(w *world) {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		list, err := s.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) < s.nodes {
			return fmt.Sprintf("%d nodes, error %v", len(list.Items), err)
		}
		for _, node := range list.Items {
			if _, err := s.client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{}); err != nil {
				return err.Error()
			}
		}
		return ""
	})
}

// run is the scenario once, with a crash at the moment.
func (s *stage) run(t *testing.T, m moment) *ledger {
	t.Helper()
	s.runs++
	w := &world{T: t, client: s.client, ns: fmt.Sprintf("crash-%03d", s.runs)}
	w.must(s.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}, metav1.CreateOptions{}))
	if s.controllers != nil { // pods need an account
		w.must(s.client.CoreV1().ServiceAccounts(w.ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}))
	}
	book := &ledger{run: w.ns, writes: map[string]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.lives(ctx, m, book) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run the controllers: %v", err)
		}
	}()
	s.act(w)
	s.settle(w, book)
	for _, write := range book.late() {
		t.Errorf("written after an earlier run had ended: %s", write)
	}
	return book
}

// lives runs the controllers until ctx ends: one life until the moment of the crash, another one afterwards.
func (s *stage) lives(ctx context.Context, m moment, book *ledger) error {
	var time clock.WithTicker
	if s.clock != nil {
		time = s.clock()
	}
	for ; ; m = (moment{}) {
		life, die := context.WithCancel(ctx)
		err := controllers.Run(life, controllers.Options{
			Config: cluster.InProcess(&mortal{inner: s.cluster.InProcessConfig().Transport, dies: m, die: die, book: book}),
			Logger: slog.New(slog.DiscardHandler), Enabled: s.controllers, Clock: time,
			RootCA: []byte("-----BEGIN CERTIFICATE-----\n"), SigningCA: s.authority.Signing(), ClusterCIDR: netip.MustParsePrefix("10.244.0.0/16"),
		})
		died := life.Err() != nil
		die()
		if ctx.Err() != nil || !died {
			return err
		}
	}
}

// settle waits for calm, and that the state then is that of the undisturbed run.
func (s *stage) settle(w *world, book *ledger) {
	w.Helper()
	last, since := -1, time.Now()
	w.eventually(func(ctx context.Context) string {
		if n := book.count(); n != last {
			last, since = n, time.Now()
		}
		state, err := s.state(ctx, w.ns)
		switch {
		case err != nil:
			return err.Error()
		case time.Since(since) < calm, s.want == nil && time.Since(since) < firstCalm:
			return fmt.Sprintf("the controllers still write: %v", book)
		case s.want == nil:
			s.want = state
			return ""
		}
		return difference(s.want, state)
	})
}
