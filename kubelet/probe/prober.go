package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// Options of a Prober.
type Options struct {
	Runtime runtimeapi.RuntimeServiceClient
	// Dial connects to pods. nil is for pods that have no network: HTTP, TCP and gRPC probes of them succeed.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// HostIP is where pods on the host's network are asked.
	HostIP string
	Clock  clock.WithDelayedExecution
	// Record sends an event about a container.
	Record func(pod *v1.Pod, container, eventType, reason, message string)
	// Changed is called with a pod one of whose results changed.
	Changed func(types.UID)
}

// Prober probes the containers of one kubelet.
type Prober struct {
	options Options
	born    time.Time

	mu      sync.Mutex
	targets map[string]*target // by container id
	wait    sync.WaitGroup
}

// target is a running container with probes.
type target struct {
	id        string
	pod       *v1.Pod
	container *v1.Container
	podIP     string
	startedAt time.Time
	ending    bool
	probes    map[Kind]*schedule
}

// schedule is one probe of a target.
type schedule struct {
	kind  Kind
	spec  *v1.Probe
	count count
	timer clock.Timer
	busy  bool
	// eager counts the questions put ahead of the period to a container that has just started.
	eager int
}

// firstEager is the distance of the first two eager questions; each further one is twice as late. settling is how
// long a container has to come up before it is held to its answers: upstream's kubelet, which looks at containers
// once a second, asks no sooner either.
const (
	firstEager = 100 * time.Millisecond
	settling   = time.Second
)

// again is when an eager question is to follow one that was answered with no: a container that has just started is
// asked again soon whether it has come up, so that it needn't wait for a whole period because it was asked a moment
// too early. Those answers are neither counted nor told. 0 means that the period applies.
func (s *schedule) again(a answer) time.Duration {
	delay, last := firstEager<<s.eager, seconds(s.spec.PeriodSeconds)
	switch s.kind {
	case Liveness:
		return 0
	case Startup:
		last = min(last, settling)
	}
	if s.count.result == plan.Success || a.err != nil || a.result != plan.Failure || delay >= last {
		return 0
	}
	return delay
}

// New returns a Prober.
func New(options Options) *Prober {
	return &Prober{options: options, born: options.Clock.Now(), targets: map[string]*target{}}
}

// Wait returns when no question is being asked.
func (p *Prober) Wait() { p.wait.Wait() }

// Results returns what the probes of a container say; Unknown for a probe that it doesn't have or that has not been
// answered.
func (p *Prober) Results(containerID string) plan.Probes {
	p.mu.Lock()
	defer p.mu.Unlock()
	var results plan.Probes
	if t := p.targets[containerID]; t != nil {
		results = plan.Probes{Liveness: t.result(Liveness), Readiness: t.result(Readiness), Startup: t.result(Startup)}
	}
	return results
}

func (t *target) result(kind Kind) plan.ProbeResult {
	if s := t.probes[kind]; s != nil {
		return s.count.result
	}
	return plan.Unknown
}

// Update makes the schedules fit the pod: one for each probe of each container that runs. A question lives in ctx.
func (p *Prober) Update(ctx context.Context, pod *v1.Pod, observed *runtime.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	running := map[string]bool{}
	for container, kind := range podspec.All(pod) {
		if kind == podspec.Ephemeral || kind == podspec.Init && !podspec.IsSidecar(container) || !hasProbe(container) {
			continue
		}
		if c := observed.Newest(container.Name); c != nil && c.State == runtime.StateRunning {
			running[c.ID] = true
			p.watch(ctx, pod, container, c, observed)
		}
	}
	for id, t := range p.targets {
		if t.pod.UID == pod.UID && !running[id] {
			p.drop(id)
		}
	}
}

func hasProbe(c *v1.Container) bool {
	return c.LivenessProbe != nil || c.ReadinessProbe != nil || c.StartupProbe != nil
}

func (p *Prober) watch(ctx context.Context, pod *v1.Pod, container *v1.Container, c *runtime.Container, observed *runtime.Pod) {
	t := p.targets[c.ID]
	if t == nil {
		t = &target{id: c.ID, startedAt: c.StartedAt, probes: map[Kind]*schedule{}}
		for kind, spec := range map[Kind]*v1.Probe{Liveness: container.LivenessProbe, Readiness: container.ReadinessProbe, Startup: container.StartupProbe} {
			if spec != nil {
				t.probes[kind] = &schedule{kind: kind, spec: spec, count: begin(kind)}
			}
		}
		p.targets[c.ID] = t
	}
	t.pod, t.container = pod, container
	if ips := observed.IPs(); len(ips) > 0 {
		t.podIP = ips[0]
	} else if pod.Spec.HostNetwork {
		t.podIP = p.options.HostIP
	}
	for _, s := range t.probes {
		if s.timer == nil && !s.busy && t.due(s) {
			p.schedule(ctx, t, s, p.first(t, s))
		}
	}
}

// due tells whether a probe is to be asked at all now.
func (t *target) due(s *schedule) bool {
	if s.count.held || t.ending && s.kind != Readiness {
		return false
	}
	startup := t.probes[Startup]
	return s.kind == Startup || startup == nil || startup.count.result == plan.Success
}

// first is how long the first question waits: until the initial delay is over, and, when the kubelet has only just
// begun and finds a container that ran before, for a random part of the period, so that not all are asked at once.
func (p *Prober) first(t *target, s *schedule) time.Duration {
	now := p.options.Clock.Now()
	wait := seconds(s.spec.InitialDelaySeconds)
	if s.kind == Liveness {
		wait = max(wait, settling)
	}
	delay := t.startedAt.Add(wait).Sub(now)
	if period := seconds(s.spec.PeriodSeconds); t.startedAt.Before(p.born) && now.Sub(p.born) < period {
		delay = max(delay, rand.N(period))
	}
	return max(delay, 0)
}

func (p *Prober) schedule(ctx context.Context, t *target, s *schedule, delay time.Duration) {
	if delay == 0 {
		p.ask(ctx, t, s)
		return
	}
	// In a goroutine: a clock may call back while it holds a lock that asking for the time needs.
	s.timer = p.options.Clock.AfterFunc(delay, func() { go p.fire(ctx, t, s) })
}

func (p *Prober) fire(ctx context.Context, t *target, s *schedule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.timer != nil && p.targets[t.id] == t {
		s.timer = nil
		p.ask(ctx, t, s)
	}
}

// ask puts the question in the background; the caller holds the lock.
func (p *Prober) ask(ctx context.Context, t *target, s *schedule) {
	if ctx.Err() != nil || !t.due(s) || s.busy {
		return
	}
	s.busy = true
	q := question{options: p.options, pod: t.pod, container: t.container, id: t.id, podIP: t.podIP, spec: s.spec}
	asked := p.options.Clock.Now()
	p.wait.Add(1)
	go func() {
		defer p.wait.Done()
		a := q.ask(ctx)
		p.answered(ctx, t, s, a, asked)
	}()
}

func (p *Prober) answered(ctx context.Context, t *target, s *schedule, a answer, asked time.Time) {
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.busy = false
	if p.targets[t.id] != t {
		return // the container ended meanwhile
	}
	if delay := s.again(a); delay > 0 {
		s.eager++
		p.schedule(ctx, t, s, delay)
		return
	}
	p.tell(t, s, a)
	if a.err == nil {
		before := s.count.result
		s.count = s.count.add(s.kind, s.spec, a.result)
		if s.count.result != before {
			p.options.Changed(t.pod.UID)
		}
	}
	if t.due(s) {
		next := asked.Add(seconds(s.spec.PeriodSeconds)).Sub(p.options.Clock.Now())
		p.schedule(ctx, t, s, max(next, time.Millisecond))
	}
}

func (p *Prober) tell(t *target, s *schedule, a answer) {
	var reason, message string
	switch {
	case t.ending && s.kind != Readiness:
		return
	case a.err != nil:
		reason, message = "Unhealthy", fmt.Sprintf("%s probe errored and resulted in unknown state: %s", s.kind, a.err)
	case a.result == plan.Failure:
		reason, message = "Unhealthy", fmt.Sprintf("%s probe failed: %s", s.kind, a.output)
	case a.warning:
		reason, message = "ProbeWarning", fmt.Sprintf("%s probe warning: %s", s.kind, a.output)
	default:
		return
	}
	p.options.Record(t.pod, t.container.Name, v1.EventTypeWarning, reason, message)
}

// Ending stops the liveness and startup probes of a pod that is to end; readiness goes on to be told.
func (p *Prober) Ending(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.targets {
		if t.pod.UID == uid {
			t.ending = true
		}
	}
}

// Forget drops all that is known about a pod.
func (p *Prober) Forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, t := range p.targets {
		if t.pod.UID == uid {
			p.drop(id)
		}
	}
}

func (p *Prober) drop(id string) {
	for _, s := range p.targets[id].probes {
		if s.timer != nil {
			s.timer.Stop()
		}
	}
	delete(p.targets, id)
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
