package stages

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/kogge-dev/kogge/internal/handover"
)

// cast are all objects of a kind.
type cast struct {
	player   *Player
	kind     schema.GroupVersionKind
	resource resource
	stages   []*stage
	events   record.EventRecorder
	log      *slog.Logger
	// queue holds the keys of objects that are to be looked at, now or later. One is never looked at twice at a time.
	queue workqueue.TypedDelayingInterface[string]

	mu    sync.Mutex
	parts map[string]*part
}

// part is what is known of one object.
type part struct {
	uid string
	// version is that of the last event, wrote that of our last write.
	version, wrote uint64
	// object is what the last event brought; nil: there is nothing to do until it changes.
	object object
	// scene is what comes; nil: that is to be judged.
	scene *scene
}

// scene is a stage that waits for its moment.
type scene struct {
	stage    *stage
	at       time.Time
	step     int // the first that is not done yet
	failures int
}

// Failed requests are tried again after a second, then after twice as long each time.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

func newCast(p *Player, kind schema.GroupVersionKind, r resource, all []*stage, events record.EventRecorder) *cast {
	return &cast{
		player: p, kind: kind, resource: r, stages: all, events: events, parts: map[string]*part{},
		log:   p.options.Logger.With("resource", r.GroupResource().String()),
		queue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: p.options.Clock}),
	}
}

func (c *cast) run(ctx context.Context) error {
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for {
				key, ended := c.queue.Get()
				if ended {
					return
				}
				c.look(ctx, key)
				c.queue.Done(key)
			}
		})
	}
	objects := c.player.kinds.objects.Resource(c.resource.GroupVersionResource)
	selector := ""
	if c.kind == podKind {
		selector = "spec.nodeName!="
	}
	cache.NewReflectorWithOptions(handover.Source(objects, selector), &unstructured.Unstructured{}, c, cache.ReflectorOptions{Name: "stages", TypeDescription: c.kind.String()}).RunWithContext(ctx)
	c.queue.ShutDown()
	running.Wait()
	return nil
}

// look does what is to be done with an object at this moment.
func (c *cast) look(ctx context.Context, key string) {
	c.mu.Lock()
	p := c.parts[key]
	if p == nil || p.object == nil || ctx.Err() != nil {
		c.mu.Unlock()
		return
	}
	o, seen, next := p.object, p.version, p.scene
	c.mu.Unlock()
	now := c.player.world.now()
	if next == nil {
		if next = c.judge(o, now); next == nil {
			c.settle(key, seen, 0, nil)
			return
		}
	}
	if wait := next.at.Sub(now); wait > 0 {
		c.settle(key, seen, 0, next)
		c.queue.AddAfter(key, wait)
		return
	}
	wrote, err := c.play(ctx, o, next)
	if err != nil && ctx.Err() == nil {
		if !worthAnotherTry(err) {
			c.log.Warn("a stage is not played", "object", key, "stage", next.stage.name, "err", err)
		} else {
			wait := min(firstRetry<<min(next.failures, 10), lastRetry)
			next.at, next.failures = now.Add(wait), next.failures+1
			c.settle(key, seen, wrote, next)
			c.queue.AddAfter(key, wait)
			return
		}
	}
	c.settle(key, seen, wrote, nil)
}

// judge gives what comes next for an object, or nil.
func (c *cast) judge(o object, now time.Time) *scene {
	chosen := judge(c.stages, o, c.player.chance)
	if chosen == nil {
		return nil
	}
	return &scene{stage: chosen, at: now.Add(chosen.delay.of(o, now, c.player.chance))}
}

// settle notes what comes next for the object that was looked at, unless it has changed meanwhile: then it is looked at again anyway, but
// not as long as our own write is still to be seen.
func (c *cast) settle(key string, seen, wrote uint64, next *scene) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.parts[key]
	if p == nil {
		return
	}
	p.wrote = max(p.wrote, wrote)
	switch {
	case p.version != seen:
		if p.version < p.wrote {
			p.object, p.scene = nil, nil
		}
	case next == nil:
		p.object, p.scene = nil, nil
	default:
		p.scene = next
	}
}

// see takes what a watch or a list brought.
func (c *cast) see(o object) {
	if !c.ours(o) {
		return
	}
	key := keyOf(o)
	uid, at := textAt(o, "metadata", "uid"), versionOf(textAt(o, "metadata", "resourceVersion"))
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.parts[key]
	if p == nil {
		p = &part{}
		c.parts[key] = p
	}
	if p.uid != uid {
		c.player.world.addresses.free(p.uid)
		*p = part{uid: uid}
	}
	if at == p.version || at < p.wrote {
		return
	}
	p.version, p.object, p.scene = at, plain(o).(object), nil
	c.queue.Add(key)
}

// ours tells whether an object is for the player, and makes it what stages expect.
func (c *cast) ours(o object) bool {
	if metadata, ok := o["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	switch c.kind {
	case podKind:
		_, ours := c.player.world.node(textAt(o, "spec", "nodeName"))
		return ours
	case nodeKind:
		_, ours := c.player.world.node(textAt(o, "metadata", "name"))
		if status, ok := o["status"].(map[string]any); ok && status["phase"] == nil {
			status["phase"] = "Running" // kubelets don't say so any more, and stages of nodes ask for it
		}
		return ours
	}
	return true
}

// noteAddress keeps track of the addresses that pods have.
func (c *cast) noteAddress(o object) {
	if c.kind != podKind {
		return
	}
	uid := textAt(o, "metadata", "uid")
	switch textAt(o, "status", "phase") {
	case "Succeeded", "Failed":
		c.player.world.addresses.free(uid)
	default:
		c.player.world.addresses.note(uid, textAt(o, "status", "podIP"))
	}
}

func keyOf(o object) string {
	name := textAt(o, "metadata", "name")
	if namespace := textAt(o, "metadata", "namespace"); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// versionOf reads a resourceVersion; they are numbers that grow.
func versionOf(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}
