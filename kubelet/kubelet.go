package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/image"
	"github.com/kogge-dev/kogge/kubelet/node"
	"github.com/kogge-dev/kogge/kubelet/object"
	"github.com/kogge-dev/kogge/kubelet/podworker"
	"github.com/kogge-dev/kogge/kubelet/probe"
	"github.com/kogge-dev/kogge/kubelet/rounds"
	"github.com/kogge-dev/kogge/kubelet/runtime"
	"github.com/kogge-dev/kogge/kubelet/server"
)

// Kubelet runs the pods of one node.
type Kubelet struct {
	options    Options
	logger     *slog.Logger
	clock      clock.WithTickerAndDelayedExecution
	core       corev1.CoreV1Interface
	runtime    *runtime.Runtime
	recorder   record.EventRecorder
	events     record.EventBroadcaster // its own, or nil
	informer   *Informer               // its own, or nil
	source     PodSource
	pool       *podworker.Pool
	images     *image.Puller
	probes     *probe.Prober
	rounds     *rounds.Rounds
	heartbeats *rounds.Rounds
	node       *node.Agent
	server     *server.Server
	away       *availability
	objects    *object.Store
	machine    *machine // nil for a kubelet that touches no file

	// background is the context of what outlives a sync: pulls, stops, probes.
	background context.Context
	stopping   sync.WaitGroup
	// runtimeName prefixes container ids; it is known once the runtime was reached.
	runtimeName atomic.Pointer[string]

	// quick says that the runtime is in this process and does at once what it is told.
	quick bool

	mu     sync.Mutex
	pods   map[types.UID]*entry
	synced bool
}

// UserAgent is what a kubelet calls itself unless its configuration does otherwise. What it writes is its own by this name, in managedFields.
const UserAgent = "kubelet"

// ownWorkers are enough for one kubelet's rounds.
const ownWorkers = 1

// New returns a Kubelet that works once it runs. It reaches nothing yet.
func New(options Options) (*Kubelet, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	k := &Kubelet{
		options: options,
		logger:  options.Logger,
		clock:   options.Clock,
		runtime: runtime.New(options.Runtime, options.Images),
		pods:    map[types.UID]*entry{},
	}
	config := rest.CopyConfig(options.Config)
	config.QPS = -1
	config.UserAgent = cmp.Or(config.UserAgent, UserAgent)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubelet: %w", err)
	}
	core, err := corev1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("kubelet: %w", err)
	}
	leases, err := coordinationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("kubelet: %w", err)
	}
	k.core = core
	if k.source = options.Pods; k.source == nil {
		if k.informer, err = NewInformer(core, options.NodeName, nil); err != nil {
			return nil, fmt.Errorf("kubelet: %w", err)
		}
		k.source = k.informer
	}
	_, k.quick = options.Runtime.(runtime.Notifier)
	broadcaster := options.Events
	if broadcaster == nil {
		broadcaster = record.NewBroadcaster()
		k.events = broadcaster
	}
	k.recorder = broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: "kubelet", Host: options.NodeName})
	k.pool = podworker.New(podworker.Options{Clock: k.clock, Sync: k.sync})
	k.images = image.New(image.Options{Images: options.Images, Clock: k.clock, Record: k.recordNamed, Finished: k.pool.Trigger})
	k.away = &availability{logger: k.logger}
	k.objects = object.New(object.Options{Client: k.core, Changed: k.pool.Trigger})
	if k.machine, err = k.newMachine(); err != nil {
		return nil, err
	}
	k.probes = k.newProber()
	if k.rounds = options.Rounds; k.rounds == nil {
		k.rounds = rounds.New(k.clock)
	}
	if k.heartbeats = options.Heartbeats; k.heartbeats == nil {
		k.heartbeats = rounds.New(k.clock)
	}
	if k.node, err = k.newNode(leases); err != nil {
		return nil, err
	}
	k.server = k.newServer()
	return k, nil
}

// Run works until ctx ends. Containers go on running; the next kubelet finds them.
func (k *Kubelet) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	k.background = ctx
	if k.events != nil {
		watcher := k.events.StartRecordingToSink(&corev1.EventSinkImpl{Interface: k.core.Events("")})
		defer k.events.Shutdown()
		defer watcher.Stop()
	}
	unsubscribe := k.source.Subscribe(k.options.NodeName, PodHandler{Changed: k.podChanged, Gone: k.podGone, Synced: k.podsSynced})
	if k.informer != nil {
		group.Go(func() error { return k.informer.Run(ctx) })
	}
	if k.machine != nil {
		group.Go(func() error { return k.machine.services.run(ctx) })
		group.Go(func() error { return k.keepHouse(ctx) })
	}
	if k.options.Listener != nil {
		group.Go(func() error { return k.serve(ctx) })
	}
	if k.options.Rounds == nil {
		group.Go(func() error { return k.rounds.Run(ctx, ownWorkers) })
	}
	if k.options.Heartbeats == nil {
		group.Go(func() error { return k.heartbeats.Run(ctx, ownWorkers) })
	}
	if source, ok := k.options.Runtime.(runtime.Notifier); ok {
		defer source.Notify(k.runtimeChanged)()
		k.runtimeConnected(nil)
	} else {
		group.Go(func() error { return k.watcher().Run(ctx) })
	}
	defer k.node.Start(ctx)()
	err := errors.Join(k.pool.Run(ctx), group.Wait())
	unsubscribe() // before what was begun is waited for: nothing begins any more
	k.dropDrafts()
	k.stopping.Wait()
	k.images.Wait()
	k.probes.Wait()
	k.objects.Wait()
	return err
}

func (k *Kubelet) watcher() *runtime.Watcher {
	w := &runtime.Watcher{Runtime: k.runtime, Clock: k.clock, Changed: k.runtimeChanged, Connected: k.runtimeConnected}
	if k.options.RootDir != "" {
		w.Relist = relistInterval
	}
	return w
}

// podChanged is called by the source of pods.
func (k *Kubelet) podChanged(pod *v1.Pod) {
	e := k.entryFor(pod.UID)
	news, urgent := e.update(pod)
	switch {
	case urgent:
		k.pool.Interrupt(pod.UID)
	case news:
		k.pool.Trigger(pod.UID)
	}
}

// podGone is called by the source of pods.
func (k *Kubelet) podGone(pod *v1.Pod) {
	if e := k.find(pod.UID); e != nil {
		e.setGone()
		k.pool.Interrupt(pod.UID)
	}
}

// podsSynced is called once all pods that exist are known: then those that only the runtime has are orphans.
func (k *Kubelet) podsSynced() {
	k.mu.Lock()
	k.synced = true
	k.mu.Unlock()
	k.stopping.Add(1)
	go func() {
		defer k.stopping.Done()
		uids, err := k.runtime.UIDs(k.background)
		if err != nil {
			return // the watcher lists them again once the runtime is back
		}
		left, err := k.machine.leftovers(k.options.RootDir)
		if err != nil {
			k.logger.Error("look for what earlier pods left", "err", err)
		}
		uids = append(uids, left...)
		for _, uid := range uids {
			k.runtimeChanged(uid)
		}
	}()
}

// runtimeChanged is called by the runtime's watcher.
func (k *Kubelet) runtimeChanged(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[uid] == nil {
		if !k.synced {
			return
		}
		k.pods[uid] = &entry{uid: uid, gone: true}
	}
	k.pool.Trigger(uid)
}

// runtimeConnected is called by the runtime's watcher.
func (k *Kubelet) runtimeConnected(err error) {
	if k.away.set(err) {
		k.node.Touch()
		if err == nil {
			k.triggerAll()
		}
	}
}

func (k *Kubelet) triggerAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid := range k.pods {
		k.pool.Trigger(uid)
	}
}

func (k *Kubelet) find(uid types.UID) *entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods[uid]
}

func (k *Kubelet) entryFor(uid types.UID) *entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.pods[uid]
	if e == nil {
		e = &entry{uid: uid}
		k.pods[uid] = e
	}
	return e
}

// forget drops a pod of which nothing is left.
func (k *Kubelet) forget(uid types.UID) {
	k.mu.Lock()
	delete(k.pods, uid)
	k.mu.Unlock()
	k.pool.Forget(uid)
	k.images.Forget(uid)
	k.probes.Forget(uid)
}
