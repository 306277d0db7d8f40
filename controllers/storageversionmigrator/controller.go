package storageversionmigrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	migrationv1 "k8s.io/api/storagemigration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	name = "storage-version-migrator-controller"
	// appearance is how long a resource may take to be served. Upstream's bound.
	appearance = time.Minute
	// unservedDelay is how long it takes until a resource is looked for again.
	unservedDelay = 5 * time.Second
	// page is how many objects are listed at once.
	page = 500
)

// Component migrates stored objects.
var Component = component.Component{
	Name:    name,
	Watches: []string{"storagemigration.k8s.io/storageversionmigrations"},
	Writes: []string{
		"storagemigration.k8s.io/storageversionmigrations:status", "*: each object once, unchanged",
		"apiextensions.k8s.io/customresourcedefinitions:status.storedVersions",
	},
	Add: add,
}

func add(env component.Environment) error {
	config, httpClient := env.Manager.GetConfig(), env.Manager.GetHTTPClient()
	objects, err := metadata.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	served, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	r := &reconciler{client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), objects: objects, served: served, clock: env.Clock}
	err = env.Controller(name, 2).
		Watches(&migrationv1.StorageVersionMigration{}, handler.EnqueueRequestsFromMapFunc(r.ofSameResource)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client  client.Client
	live    client.Reader
	objects metadata.Interface
	served  discovery.DiscoveryInterface
	clock   clock.PassiveClock
}

// ofSameResource maps a migration to all of its resource: the next may begin when one ends.
func (r *reconciler) ofSameResource(ctx context.Context, object client.Object) (requests []reconcile.Request) {
	changed, ok := object.(*migrationv1.StorageVersionMigration)
	if !ok {
		return nil
	}
	var list migrationv1.StorageVersionMigrationList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range list.Items {
		if list.Items[i].Spec.Resource == changed.Spec.Resource {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// Reconcile takes one migration one step further.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	m := &migrationv1.StorageVersionMigration{}
	if err := r.client.Get(ctx, request.NamespacedName, m); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var list migrationv1.StorageVersionMigrationList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list migrations: %w", err)
	}
	next := m.DeepCopy()
	var err error
	switch Next(m, list.Items) {
	case Begin:
		if err = r.definitionRuns(ctx, m); err == nil {
			set(next, migrationv1.MigrationRunning, reasonRunning, progress(0, 0, nil))
		}
	case Mark:
		err = r.mark(ctx, next)
	case Migrate:
		err = r.migrate(ctx, next)
	case End:
		if err = r.definitionEnds(ctx, m); err == nil {
			ended(next)
		}
	}
	if errors.Is(err, errUnserved) {
		return reconcile.Result{RequeueAfter: unservedDelay}, nil
	}
	return reconcile.Result{}, errors.Join(err, r.writeStatus(ctx, m, next))
}

func (r *reconciler) writeStatus(ctx context.Context, m, next *migrationv1.StorageVersionMigration) error {
	if apiequality.Semantic.DeepEqual(m.Status, next.Status) {
		return nil
	}
	if err := r.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	return nil
}

// errUnserved means that a resource isn't served, and may be soon.
var errUnserved = errors.New("resource is not served yet")

// resource finds the migration's resource in the version that the server prefers. Not
// served: the migration is failed, once it has waited long enough.
func (r *reconciler) resource(m *migrationv1.StorageVersionMigration, why string) (schema.GroupVersionResource, bool, error) {
	wanted := schema.GroupResource{Group: m.Spec.Resource.Group, Resource: m.Spec.Resource.Resource}
	found, err := r.client.RESTMapper().ResourcesFor(wanted.WithVersion(""))
	if err != nil && !meta.IsNoMatchError(err) {
		return schema.GroupVersionResource{}, false, fmt.Errorf("find resource %s: %w", wanted, err)
	}
	for _, gvr := range found {
		if gvr.GroupResource() == wanted {
			return gvr, true, nil
		}
	}
	if r.clock.Now().Before(m.CreationTimestamp.Add(appearance)) {
		return schema.GroupVersionResource{}, false, errUnserved
	}
	set(m, migrationv1.MigrationFailed, reasonFailed, why)
	return schema.GroupVersionResource{}, false, nil
}

// verbs are what a resource must support to be migrated.
var verbs = []string{"update", "patch", "list"}

// mark notes the version up to which objects are old.
func (r *reconciler) mark(ctx context.Context, m *migrationv1.StorageVersionMigration) error {
	gvr, ok, err := r.resource(m, "resource does not exist in discovery")
	if !ok {
		return err
	}
	served, err := r.served.ServerResourcesForGroupVersion(gvr.GroupVersion().String())
	if err != nil {
		return fmt.Errorf("discover %s: %w", gvr, err)
	}
	for _, resource := range served.APIResources {
		if resource.Name == gvr.Resource && slices.ContainsFunc(verbs, func(verb string) bool { return !slices.Contains(resource.Verbs, verb) }) {
			set(m, migrationv1.MigrationFailed, reasonFailed, fmt.Sprintf("resource %q does not support discovery operations: %v", gvr.String(), verbs))
			return nil
		}
	}
	list, err := r.objects.Resource(gvr).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return fmt.Errorf("error getting latest resourceVersion for %s: %w", gvr.String(), err)
	}
	m.Status.ResourceVersion = list.ResourceVersion
	return nil
}

// migrate has every old object written once more. What is wrong for now ends the pass with
// an error, and what is wrong for good ends the migration.
func (r *reconciler) migrate(ctx context.Context, m *migrationv1.StorageVersionMigration) error {
	const unhandled = "migration encountered unhandled error: %s"
	gvr, ok, err := r.resource(m, fmt.Sprintf(unhandled, "unable to obtain GVR from discovery"))
	if !ok {
		return err
	}
	kind, err := r.client.RESTMapper().KindFor(gvr)
	if err != nil {
		return fmt.Errorf("find the kind of %s: %w", gvr, err)
	}
	outdated, all, err := r.outdated(ctx, gvr, m.Status.ResourceVersion)
	if err != nil {
		return err
	}
	for i, object := range outdated {
		err := r.rewrite(ctx, gvr, kind, object)
		switch left := len(outdated) - i; {
		case err == nil:
		case transient(err):
			set(m, migrationv1.MigrationRunning, reasonRunning, progress(left, all, err))
			return err
		default:
			set(m, migrationv1.MigrationRunning, reasonRunning, progress(left, all, nil))
			set(m, migrationv1.MigrationFailed, reasonFailed, fmt.Sprintf("%d/%d not yet migrated. "+unhandled, left, all, err))
			return nil
		}
	}
	set(m, migrationv1.MigrationRunning, reasonRunning, progress(0, all, nil))
	set(m, migrationv1.MigrationSucceeded, reasonSucceeded, "Migration completed")
	return nil
}

// outdated lists the objects that are old, and says how many there are in all.
func (r *reconciler) outdated(ctx context.Context, gvr schema.GroupVersionResource, mark string) (found []metav1.PartialObjectMetadata, all int, err error) {
	options := metav1.ListOptions{Limit: page}
	for {
		list, err := r.objects.Resource(gvr).List(ctx, options)
		if err != nil {
			return nil, 0, fmt.Errorf("list %s: %w", gvr, err)
		}
		all += len(list.Items)
		for _, object := range list.Items {
			is, err := old(object.ResourceVersion, mark)
			if err != nil {
				return nil, 0, err
			}
			if is {
				found = append(found, object)
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return found, all, nil
		}
	}
}

// transient says that an error may be gone the next time.
func transient(err error) bool {
	return !apierrors.IsInvalid(err) && (apierrors.ReasonForError(err) == metav1.StatusReasonUnknown || apierrors.IsServerTimeout(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) || apierrors.IsTimeout(err))
}
