package registry

import (
	"context"
	"errors"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	genericvalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// nameAttempts is how often a generated name that is taken is replaced by another (KEP-4420).
const nameAttempts = 8

// errVersionOnCreate is a genuine store's; a client gets it as a failure of the server, as from a genuine one.
var errVersionOnCreate = errors.New("resourceVersion should not be set on objects to be created")

// Longest base of a generated name, so that base and suffix are a valid name.
const (
	nameSuffixLength = 5
	maxNameBase      = 63 - nameSuffixLength
)

// Create stores a new object. It becomes the registry's own.
func (r *Registry) Create(ctx context.Context, namespace string, obj resource.Object, o WriteOptions) (*Result, error) {
	dedupOwners(ctx, obj, "")
	obj = r.manage(r.Resource.New(), obj, o)
	if err := r.mutate(ctx, namespace, obj, nil, o); err != nil {
		return nil, err
	}
	dedupOwners(ctx, obj, " after mutating admission")
	if obj.GetName() != "" || obj.GetGenerateName() == "" {
		return r.create(ctx, namespace, obj, o)
	}
	for attempt := 1; ; attempt++ {
		result, err := r.create(ctx, namespace, obj.DeepCopyObject().(resource.Object), o)
		if err == nil || !apierrors.IsAlreadyExists(err) || attempt == nameAttempts {
			return result, err
		}
	}
}

// create makes one attempt with the name as given or generated.
func (r *Registry) create(ctx context.Context, namespace string, obj resource.Object, o WriteOptions) (*Result, error) {
	r.fillSystemFields(obj)
	finish, err := r.begin(ctx, obj, nil, o.DryRun)
	if err != nil {
		return nil, err
	}
	written := false
	defer func() { finish(written) }()
	if err := r.prepareCreate(ctx, namespace, obj, o); err != nil {
		return nil, err
	}
	key, err := r.key(namespace, obj.GetName())
	if err != nil {
		return nil, err
	}
	result, err := r.insert(ctx, key, obj, o)
	if err != nil {
		return nil, r.createError(ctx, err, key, obj)
	}
	written = !o.DryRun
	return result, nil
}

func (r *Registry) fillSystemFields(obj resource.Object) {
	obj.SetCreationTimestamp(metav1.NewTime(r.Now()))
	obj.SetUID(uuid.NewUUID())
	if obj.GetGenerateName() != "" && obj.GetName() == "" {
		base := obj.GetGenerateName()
		if len(base) > maxNameBase {
			base = base[:maxNameBase]
		}
		obj.SetName(base + rand.String(nameSuffixLength))
	}
}

// prepareCreate runs the kind's hooks and everything that judges a new object.
func (r *Registry) prepareCreate(ctx context.Context, namespace string, obj resource.Object, o WriteOptions) error {
	hooks := &r.Resource.Hooks
	if hooks.PrepareForCreate != nil {
		hooks.PrepareForCreate(ctx, obj)
	}
	var errs field.ErrorList
	if !r.Resource.OwnMetadata {
		errs = r.validateMeta(obj)
	}
	if hooks.Validate != nil {
		errs = append(errs, hooks.Validate(ctx, obj)...)
	}
	if len(errs) == 0 {
		// A kind's own rule for names may be laxer than what a path can hold.
		errs = genericvalidation.ValidateObjectMetaAccessor(obj, r.Resource.Namespaced, pathSegment, field.NewPath("metadata"))
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(r.Resource.InvalidKindOf(obj), obj.GetName(), once(errs))
	}
	r.warn(ctx, hooks, obj, nil)
	return r.judge(ctx, namespace, obj, nil, o)
}

// once drops errors that say what another before them says.
func once(errs field.ErrorList) field.ErrorList {
	seen := make(map[string]bool, len(errs))
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		text := e.Error()
		again := seen[text]
		seen[text] = true
		return again
	})
}

// validateMeta judges metadata with the kind's rule for names.
func (r *Registry) validateMeta(obj resource.Object) field.ErrorList {
	rule := r.Resource.ValidateName
	if rule == nil {
		rule = genericvalidation.NameIsDNSSubdomain
	}
	path := field.NewPath("metadata")
	errs := genericvalidation.ValidateObjectMetaAccessor(obj, r.Resource.Namespaced, rule, path)
	return append(errs, resource.ValidateFinalizers(obj, path)...)
}

func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

func (r *Registry) warn(ctx context.Context, hooks *resource.Hooks, obj, old resource.Object) {
	if hooks.Warnings == nil {
		return
	}
	for _, w := range hooks.Warnings(ctx, obj, old) {
		request.Warn(ctx, w)
	}
}

func (r *Registry) begin(ctx context.Context, obj, old resource.Object, dryRun bool) (func(bool), error) {
	nothing := func(bool) {}
	if r.Begin == nil {
		return nothing, nil
	}
	finish, err := r.Begin(ctx, obj, old, dryRun)
	if err != nil || finish == nil {
		return nothing, err
	}
	return finish, nil
}

// insert stores the object unless it is a dry run, which only looks whether the key is free.
func (r *Registry) insert(ctx context.Context, key string, obj resource.Object, o WriteOptions) (*Result, error) {
	if !o.DryRun {
		// A dry run stops before the store, which is what minds versions: it answers with the client's.
		if n, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64); err == nil && n != 0 {
			return nil, errVersionOnCreate
		}
		obj.SetResourceVersion("")
	}
	raw, stored, shown, err := r.encode(obj)
	if err != nil {
		return nil, err // a conversion webhook's, say: in its words
	}
	if o.DryRun {
		e, err := r.current(ctx, key)
		if err != nil {
			return nil, err
		}
		if e != nil {
			return nil, store.ErrExists
		}
		return &Result{Object: shown, Created: true}, nil
	}
	rev, err := r.Store.Create(ctx, key, raw, r.ttl(stored))
	if err != nil {
		return nil, err
	}
	return r.publish(key, raw, rev, shown, stored, true), r.settle(ctx, rev)
}

// publish parks the entry of a write for the cache, and makes the result.
func (r *Registry) publish(key string, raw []byte, rev int64, obj, stored resource.Object, created bool) *Result {
	version := strconv.FormatInt(rev, 10)
	obj.SetResourceVersion(version)
	stored.SetResourceVersion(version)
	e := cache.NewEntry(r.Codec, key, raw, stored)
	e.Revision = rev
	r.Cache.Park(e)
	return &Result{Object: obj, Entry: e, Created: created}
}

// settle waits until the cache has a write on which others' writes depend.
func (r *Registry) settle(ctx context.Context, rev int64) error {
	if !r.Resource.Governs {
		return nil
	}
	return r.Cache.WaitFor(ctx, rev)
}

func (r *Registry) ttl(stored resource.Object) int64 {
	if r.Resource.TTL == nil {
		return 0
	}
	return r.Resource.TTL(stored)
}

// createError says why a create failed, in the API's words.
func (r *Registry) createError(ctx context.Context, err error, key string, obj resource.Object) error {
	if !errors.Is(err, store.ErrExists) {
		return storeError(err)
	}
	gr := r.Resource.GR()
	exists := apierrors.NewAlreadyExists(gr, obj.GetName())
	if obj.GetGenerateName() != "" {
		exists = apierrors.NewGenerateNameConflict(gr, obj.GetName(), 1)
	}
	if e, getErr := r.current(ctx, key); getErr == nil && e != nil {
		if old, decodeErr := r.decode(e); decodeErr == nil && old.GetDeletionTimestamp() != nil {
			exists.ErrStatus.Message = "object is being deleted: " + exists.ErrStatus.Message
		}
	}
	return exists
}

// storeError makes an API error of a deadline. Other errors are told as they are.
func storeError(err error) error {
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return apierrors.NewTimeoutError("request did not complete within the allowed duration", 0)
	case errors.Is(err, context.Canceled):
		return err
	}
	return err
}
