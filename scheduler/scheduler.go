package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/internal/handover"
	"github.com/kogge-dev/kogge/internal/patient"
	"github.com/kogge-dev/kogge/scheduler/cache"
	"github.com/kogge-dev/kogge/scheduler/configuration"
	"github.com/kogge-dev/kogge/scheduler/framework"
	"github.com/kogge-dev/kogge/scheduler/plugins"
	"github.com/kogge-dev/kogge/scheduler/queue"
)

// binders is how many bindings may be under way at the same time.
const binders = 64

// Options is what New needs.
type Options struct {
	// Config reaches the API server.
	Config *rest.Config
	Logger *slog.Logger
	// Clock is real time unless a test says otherwise.
	Clock clock.Clock
	// Configuration is what configuration.Load gave; nil for the defaults.
	Configuration *configv1.KubeSchedulerConfiguration
}

// Scheduler places pods.
type Scheduler struct {
	client kubernetes.Interface
	logger *slog.Logger
	clock  clock.Clock
	// profiles and recorders are by the schedulerName of pods; of others' pods there are none.
	profiles  map[string]*framework.Profile
	recorders map[string]events.EventRecorder
	queue     *queue.Queue
	cache     *cache.Cache

	broadcaster events.EventBroadcaster
	factory     informers.SharedInformerFactory
	pods        corelisters.PodLister

	finder

	binding sync.WaitGroup
	slots   chan struct{}
	reports *reports
}

// New makes a scheduler.
func New(options Options) (*Scheduler, error) {
	if options.Config == nil || options.Logger == nil {
		return nil, errors.New("a scheduler needs a Config and a Logger")
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	config := patient.Config(context.Background(), options.Config, options.Logger)
	config.QPS, config.Burst = -1, 0
	if config.UserAgent == "" {
		config.UserAgent = "kube-scheduler"
	}
	if config.ContentType == "" {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the scheduler's client: %w", err)
	}
	sharer, err := handover.New(config)
	if err != nil {
		return nil, fmt.Errorf("make the scheduler's client: %w", err)
	}
	return newScheduler(client, sharer, options)
}

func newScheduler(client kubernetes.Interface, sharer *handover.Sharer, options Options) (*Scheduler, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(withoutManagedFields))
	// First come, first served: whoever asks the factory for pods and nodes from now on gets these.
	factory.InformerFor(&corev1.Pod{}, unfinishedPods(sharer))
	factory.InformerFor(&corev1.Node{}, allNodes(sharer))
	sources, err := plugins.NewSources(client, factory)
	if err != nil {
		return nil, err
	}
	if options.Configuration == nil {
		options.Configuration = configuration.Default()
	}
	profiles, err := newProfiles(options.Configuration, sources)
	if err != nil {
		return nil, err
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	finder := newFinder()
	recorders := map[string]events.EventRecorder{}
	for name := range profiles {
		recorders[name] = broadcaster.NewRecorder(scheme.Scheme, name)
	}
	return &Scheduler{
		client: client, logger: options.Logger, clock: options.Clock, profiles: profiles, recorders: recorders, factory: factory,
		queue: queue.New(queue.Options{
			Clock: options.Clock,
			PreEnqueue: func(pod *corev1.Pod) *framework.Status {
				return profiles[pod.Spec.SchedulerName].PreEnqueue(pod)
			},
			Helps: func(pod *corev1.Pod, refused map[string]bool, event framework.Event) bool {
				// While others are being ended for it, a try would be in vain.
				if event.Change&framework.Activated == 0 && finder.preempting.ask(pod.UID) {
					return false
				}
				return profiles[pod.Spec.SchedulerName].Helps(pod, refused, event)
			},
			MinBackoff: time.Duration(*options.Configuration.PodInitialBackoffSeconds) * time.Second,
			MaxBackoff: time.Duration(*options.Configuration.PodMaxBackoffSeconds) * time.Second,
		}),
		cache:       cache.New(),
		finder:      finder,
		broadcaster: broadcaster,
		slots:       make(chan struct{}, binders),
		reports:     newReports(),
	}, nil
}

// Run places pods until ctx ends, waiting for the API server whenever it isn't there. It
// returns nil then.
func (s *Scheduler) Run(ctx context.Context) error {
	if err := s.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return fmt.Errorf("record events: %w", err)
	}
	defer s.broadcaster.Shutdown()
	if err := s.watch(ctx); err != nil {
		return err
	}
	defer s.factory.Shutdown()
	defer s.binding.Wait()
	for {
		entry, err := s.queue.Pop(ctx)
		if err != nil {
			return nil
		}
		s.place(ctx, entry)
	}
}

// watch starts the watches and waits until what there was has been taken in.
func (s *Scheduler) watch(ctx context.Context) error {
	podInformer := s.factory.Core().V1().Pods().Informer()
	s.pods = corelisters.NewPodLister(podInformer.GetIndexer())
	nodeInformer := s.factory.Core().V1().Nodes().Informer()
	nodes, err := nodeInformer.AddEventHandler(s.nodeHandler())
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	assigned, err := podInformer.AddEventHandler(s.assignedHandler())
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	if err := s.watchStorage(); err != nil {
		return err
	}
	s.factory.StartWithContext(ctx)
	s.factory.WaitForCacheSync(ctx.Done())
	if !toolscache.WaitForCacheSync(ctx.Done(), nodes.HasSynced, assigned.HasSynced) {
		return nil // ctx has ended; Run will see that
	}
	// Only now the pods to place: placed before, they'd find half a cluster.
	if _, err := podInformer.AddEventHandler(s.waitingHandler()); err != nil && ctx.Err() == nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	return nil
}

// cycle is the placing of one pod.
type cycle struct {
	profile *framework.Profile
	entry   *queue.Entry
	pod     *framework.PodInfo
	state   *framework.CycleState
	// preemption is the decision to make room; keepsNomination says that there was none,
	// so that what was decided before holds on.
	preemption      *framework.Preemption
	keepsNomination bool
}

func newCycle(profile *framework.Profile, entry *queue.Entry) *cycle {
	return &cycle{profile: profile, entry: entry, pod: framework.NewPodInfo(entry.Pod), state: framework.NewCycleState()}
}

// place tries to find a node for one pod, and has it bound there.
func (s *Scheduler) place(ctx context.Context, entry *queue.Entry) {
	if s.isOver(entry.Pod) {
		s.queue.Done(entry.Pod.UID)
		return
	}
	c := newCycle(s.profiles[entry.Pod.Spec.SchedulerName], entry)
	s.cache.Update(&s.snapshot)
	node, err := s.find(c)
	if err != nil {
		s.refuse(ctx, c, err)
		return
	}
	s.nominated.Remove(entry.Pod.UID)
	if err := s.cache.Assume(c.pod, node); err != nil {
		s.refuse(ctx, c, err)
		return
	}
	if status := c.profile.Reserve(ctx, c.state, c.pod, node); !status.IsSuccess() {
		s.giveBack(ctx, c, node, status)
		return
	}
	if status := c.profile.Permit(ctx, c.state, c.pod, node); !status.IsSuccess() {
		s.giveBack(ctx, c, node, status)
		return
	}
	s.queue.Done(entry.Pod.UID)
	s.binding.Go(func() { s.bind(ctx, c, node) })
}

// isOver says that there is nothing to place any more.
func (s *Scheduler) isOver(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || s.cache.Assumed(pod)
}
