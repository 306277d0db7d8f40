package image

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/plan"
)

// Reasons why a container waits for its image.
const (
	ReasonBackOff      = "ImagePullBackOff"
	ReasonPullFailed   = "ErrImagePull"
	ReasonNeverPull    = "ErrImageNeverPull"
	ReasonInvalidName  = "InvalidImageName"
	ReasonInspectError = "ImageInspectError"
)

// How soon a failed pull turns into a back-off in the status, and how often the back-off is told as an event.
const (
	showFailure   = 2 * time.Second
	tellBackOff   = 10 * time.Second
	retryPresence = 10 * time.Second
)

// Record sends an event about a container: eventType Normal or Warning.
type Record func(pod *v1.Pod, container, eventType, reason, message string)

// Options of a Puller. All are required.
type Options struct {
	Images runtimeapi.ImageServiceClient
	Clock  clock.PassiveClock
	Record Record
	// Finished is called with the pod when a pull that its container waits for has ended.
	Finished func(types.UID)
}

// Request asks for one container's image.
type Request struct {
	Pod       *v1.Pod
	Container *v1.Container
	// Secrets returns the pod's pull secrets. It is called only if something is pulled.
	Secrets func(context.Context) []*v1.Secret
	Sandbox *runtimeapi.PodSandboxConfig
	// Handler is the pod's runtime handler.
	Handler string
}

// Result is one of three: the image is there (Ref), it is on the way (Pending), or it can't be had (Failure).
type Result struct {
	Ref     string
	Pending bool
	Failure *Failure
}

// Failure says why an image can't be had, and how long to wait before asking again.
type Failure struct {
	Reason  string
	Message string
	Retry   time.Duration
}

type key struct {
	uid   types.UID
	image string
}

// pull is a pull under way, or the memory of the last one.
type pull struct {
	running bool
	// ref is set by success until a container takes it; err by failure until it is shown.
	ref      string
	failed   string
	shown    bool
	backoff  plan.Backoff
	lastTold time.Time
}

// Puller pulls the images of one kubelet.
type Puller struct {
	options Options

	mu    sync.Mutex
	pulls map[key]*pull
	wait  sync.WaitGroup
}

// New returns a Puller.
func New(options Options) *Puller {
	return &Puller{options: options, pulls: map[key]*pull{}}
}

// Wait returns when no pull is under way; pulls end with the context that they were begun in.
func (p *Puller) Wait() { p.wait.Wait() }

// Forget drops what is remembered about a pod's failures.
func (p *Puller) Forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, pull := range p.pulls {
		if k.uid == uid && !pull.running {
			delete(p.pulls, k)
		}
	}
}

// Ensure applies the container's pull policy. background is the context that a pull lives in: it must outlast the
// call.
func (p *Puller) Ensure(background context.Context, request Request) Result {
	name, err := WithTag(request.Container.Image)
	if err != nil {
		message := fmt.Sprintf("Failed to apply default image tag %q: %v", request.Container.Image, err)
		p.record(request, v1.EventTypeWarning, "InspectFailed", message)
		return failure(ReasonInvalidName, message, retryPresence)
	}
	k := key{request.Pod.UID, name}
	if result, known := p.ongoing(k); known {
		return result
	}
	if request.Container.ImagePullPolicy != v1.PullAlways {
		if result, settled := p.present(background, request, name); settled {
			return result
		}
	}
	return p.begin(background, request, k)
}

// ongoing answers from a pull that runs or that just succeeded.
func (p *Puller) ongoing(k key) (Result, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pull := p.pulls[k]
	switch {
	case pull == nil:
		return Result{}, false
	case pull.running:
		return Result{Pending: true}, true
	case pull.ref != "":
		delete(p.pulls, k)
		return Result{Ref: pull.ref}, true
	default:
		return Result{}, false
	}
}

// present looks whether the image is on the machine, and settles the matter if it is or if it must not be pulled.
func (p *Puller) present(ctx context.Context, request Request, name string) (Result, bool) {
	response, err := p.options.Images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: spec(name, request)})
	if err != nil {
		message := fmt.Sprintf("Failed to inspect image %q: %v", "", err)
		p.record(request, v1.EventTypeWarning, "InspectFailed", message)
		return failure(ReasonInspectError, message, retryPresence), true
	}
	if response.GetImage().GetId() != "" {
		p.record(request, v1.EventTypeNormal, "Pulled",
			fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", request.Container.Image))
		return Result{Ref: response.Image.Id}, true
	}
	if request.Container.ImagePullPolicy == v1.PullNever {
		message := fmt.Sprintf("Container image %q is not present with pull policy of Never", request.Container.Image)
		p.record(request, v1.EventTypeWarning, ReasonNeverPull, message)
		return failure(ReasonNeverPull, message, retryPresence), true
	}
	return Result{}, false
}

// begin starts a pull, unless the last one failed too recently.
func (p *Puller) begin(background context.Context, request Request, k key) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.options.Clock.Now()
	current := p.pulls[k]
	if current == nil {
		current = &pull{}
		p.pulls[k] = current
	}
	if current.failed != "" && !current.shown {
		current.shown = true
		return failure(ReasonPullFailed, current.failed, showFailure)
	}
	if until := current.backoff.Until(current.backoff.Updated()); now.Before(until) {
		message := fmt.Sprintf("Back-off pulling image %q", request.Container.Image)
		if now.Sub(current.lastTold) >= tellBackOff {
			current.lastTold = now
			p.record(request, v1.EventTypeNormal, "BackOff", message)
		}
		return failure(ReasonBackOff, fmt.Sprintf("%s: %s: %s", message, ReasonPullFailed, current.failed), until.Sub(now))
	}
	current.running, current.failed, current.shown = true, "", false
	p.record(request, v1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", request.Container.Image))
	p.wait.Add(1)
	go func() {
		defer p.wait.Done()
		p.pull(background, request, k, current)
		p.options.Finished(k.uid)
	}()
	return Result{Pending: true}
}

func (p *Puller) pull(ctx context.Context, request Request, k key, current *pull) {
	started := p.options.Clock.Now()
	ref, err := p.try(ctx, request, k.image)
	var size uint64
	if err == nil {
		response, statusErr := p.options.Images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: spec(ref, request)})
		if statusErr == nil {
			size = response.GetImage().GetSize()
		}
	}
	now := p.options.Clock.Now()
	p.mu.Lock()
	current.running = false
	if err == nil {
		current.ref, current.backoff = ref, plan.Backoff{}
	} else {
		current.failed = err.Error()
		current.backoff = current.backoff.Next(now, now)
	}
	p.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			p.record(request, v1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %v", request.Container.Image, err))
		}
		return
	}
	took := now.Sub(started).Truncate(time.Millisecond)
	p.record(request, v1.EventTypeNormal, "Pulled",
		fmt.Sprintf("Successfully pulled image %q in %v (%v including waiting). Image size: %v bytes.", request.Container.Image, took, took, size))
}

// try pulls with each of the credentials, or with none when there are none.
func (p *Puller) try(ctx context.Context, request Request, name string) (string, error) {
	credentials := []*runtimeapi.AuthConfig{nil}
	if request.Secrets != nil {
		if found := Credentials(name, request.Secrets(ctx)); len(found) > 0 {
			credentials = found
		}
	}
	var failures []error
	for _, auth := range credentials {
		response, err := p.options.Images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: spec(name, request), Auth: auth, SandboxConfig: request.Sandbox})
		if err == nil {
			return response.ImageRef, nil
		}
		failures = append(failures, err)
	}
	return "", errors.Join(failures...)
}

func (p *Puller) record(request Request, eventType, reason, message string) {
	p.options.Record(request.Pod, request.Container.Name, eventType, reason, message)
}

func spec(name string, request Request) *runtimeapi.ImageSpec {
	return &runtimeapi.ImageSpec{Image: name, Annotations: request.Pod.Annotations, RuntimeHandler: request.Handler}
}

func failure(reason, message string, retry time.Duration) Result {
	return Result{Failure: &Failure{Reason: reason, Message: message, Retry: retry}}
}
