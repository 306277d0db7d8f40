package storage

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/apitesting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
)

// versioner puts revisions into objects.
var versioner = storage.APIObjectVersioner{}

// podCodec encodes the suites' pods.
var podCodec = func() runtime.Codec {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
	return apitesting.TestCodec(serializer.NewCodecFactory(scheme), examplev1.SchemeGroupVersion)
}()

// form is how pods are stored: encoded, and then transformed as a suite asks for.
type form struct {
	codec       runtime.Codec
	transformer atomic.Pointer[value.Transformer]
}

func newForm() *form {
	f := &form{codec: podCodec}
	f.set(storagetesting.NewPrefixTransformer([]byte("test!"), false))
	return f
}

func (f *form) set(t value.Transformer) { f.transformer.Store(&t) }

// plain undoes the transformation; stale: it wants the value to be written anew.
func (f *form) plain(ctx context.Context, key string, raw []byte) (data []byte, stale bool, err error) {
	data, stale, err = (*f.transformer.Load()).TransformFromStorage(ctx, raw, value.DefaultContext(key))
	var unreadable *cache.UnreadableError
	if errors.As(err, &unreadable) {
		return nil, false, unreadable
	}
	if err != nil {
		return nil, false, storage.NewInternalError(fmt.Errorf("unable to transform key %q: %w", key, err))
	}
	return data, stale, nil
}

// into decodes a stored value into an object.
func (f *form) into(ctx context.Context, key string, raw []byte, revision int64, out runtime.Object) error {
	data, _, err := f.plain(ctx, key, raw)
	if err != nil {
		return err
	}
	return f.decode(data, revision, out)
}

func (f *form) decode(data []byte, revision int64, out runtime.Object) error {
	if _, _, err := f.codec.Decode(data, nil, out); err != nil {
		return storage.NewInternalError(fmt.Errorf("decode: %w", err))
	}
	return versioner.UpdateObject(out, uint64(revision))
}

// pod decodes a stored value.
func (f *form) pod(ctx context.Context, key string, raw []byte, revision int64) (*example.Pod, error) {
	p := &example.Pod{}
	return p, f.into(ctx, key, raw, revision, p)
}

// encode makes the encoded value of an object, and the stored one.
func (f *form) encode(ctx context.Context, key string, obj runtime.Object) (data, raw []byte, err error) {
	obj = obj.DeepCopyObject()
	if err := versioner.PrepareObjectForStorage(obj); err != nil {
		return nil, nil, err
	}
	if data, err = runtime.Encode(f.codec, obj); err != nil {
		return nil, nil, err
	}
	raw, err = (*f.transformer.Load()).TransformToStorage(ctx, data, value.DefaultContext(key))
	return data, raw, err
}
