package handover

import (
	"context"
	"errors"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Sharer makes sources of informers that share their objects with others of the process. Nil shares nothing.
type Sharer struct{ client rest.Interface }

// New makes the sharer of a component that reaches the API server by this configuration; nil, if that is not in the process.
func New(config *rest.Config) (*Sharer, error) {
	if _, ok := config.Transport.(Transport); !ok {
		return nil, nil
	}
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &Sharer{client}, nil
}

// Watch is what a source watches.
type Watch struct {
	// Path is the resource's, such as /apis/apps/v1/deployments; see PathOf.
	Path string
	// FieldSelector in the API's syntax; empty: all objects.
	FieldSelector string
	// Metadata: *metav1.PartialObjectMetadata are wanted.
	Metadata bool
}

// PathOf is where a resource's objects of all namespaces are.
func PathOf(r schema.GroupVersionResource) string {
	if r.Group == "" {
		return path.Join("/api", r.Version, r.Resource)
	}
	return path.Join("/apis", r.Group, r.Version, r.Resource)
}

// metadata is how a client asks for metadata alone. In which encoding matters only where it is refused.
const metadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// ListWatch watches as source does, but sharing the objects where that can be. Lists are as in the source: an informer asks for them only
// where a watch can't begin with what there is.
func (s *Sharer) ListWatch(source cache.ListerWatcher, w Watch) cache.ListerWatcher {
	if s == nil {
		return source
	}
	return &cache.ListWatch{
		ListWithContextFunc: cache.ToListerWatcherWithContext(source).ListWithContext,
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			given := o
			o.Watch, o.FieldSelector = true, w.FieldSelector
			watching, err := s.watch(ctx, w, &o)
			if errors.Is(err, errNothingHandedOver) {
				return cache.ToListerWatcherWithContext(source).WatchWithContext(ctx, given)
			}
			return watching, err
		},
	}
}

var errNothingHandedOver = errors.New("the API server hands nothing over")

func (s *Sharer) watch(ctx context.Context, w Watch, o *metav1.ListOptions) (watch.Interface, error) {
	request := s.client.Get().AbsPath(w.Path).VersionedParams(o, metav1.ParameterCodec).SetHeader(Header, "true")
	if w.Metadata {
		request.SetHeader("Accept", metadata)
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, err
	}
	stream, ok := body.(Stream)
	if !ok {
		return nil, errors.Join(errNothingHandedOver, body.Close())
	}
	return watching{stream}, nil
}

// watching is a watch of a stream.
type watching struct{ stream Stream }

// ResultChan is closed at the watch's end.
func (w watching) ResultChan() <-chan watch.Event { return w.stream.Events() }

// Stop ends the watch.
func (w watching) Stop() { _ = w.stream.Close() } // closing it can't fail
