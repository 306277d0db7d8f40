package component

import (
	"crypto/tls"
	"log/slog"
	"net/netip"
	"time"

	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Component is one controller as the list of controllers knows it.
type Component struct {
	// Name is upstream's name for the controller, as --controllers takes it.
	Name string
	// Off controllers run only when they are named: "*" does not mean them.
	Off bool
	// First lists what a controller watches that begins before the others: users of a cluster that has just begun wait for what it
	// makes. Nil: it begins with the others.
	First []client.Object
	// Watches lists the resources that wake the controller, as group/resource.
	Watches []string
	// Writes lists what this controller and no other writes, as
	// group/resource:part. A part is a verb ("create", "delete") or the name of
	// a field or group of fields ("status", "spec.podCIDR").
	Writes []string
	// Add registers the controller's loops with the manager.
	Add func(Environment) error
}

// Environment is what a process gives to its controllers.
type Environment struct {
	Manager manager.Manager
	Logger  *slog.Logger
	Clock   clock.WithTicker
	// Events gives the recorder whose events name the component as their source.
	Events func(component string) record.EventRecorder
	// RootCA is the PEM bundle that pods use to trust the API server.
	RootCA []byte
	// SigningCA signs certificates that were approved; without a key nothing is signed.
	SigningCA tls.Certificate
	// ClusterCIDR is the range that pods get their addresses from; the zero
	// prefix allocates nothing to nodes.
	ClusterCIDR netip.Prefix
	// NodeCIDRMaskSize is the length in bits of the prefix that one node gets.
	NodeCIDRMaskSize int
}

// Retries of one key wait from minRetryDelay, doubled each time, up to maxRetryDelay.
// Upstream's own ceiling is 1000 s; a small cluster wants to recover sooner.
const (
	minRetryDelay = 5 * time.Millisecond
	maxRetryDelay = 30 * time.Second
)

// Controller begins the declaration of a loop of the given name; workers is the
// number of keys that may be reconciled at the same time.
func (e Environment) Controller(name string, workers int) *builder.Builder {
	return builder.ControllerManagedBy(e.Manager).Named(name).WithOptions(controller.Options{
		MaxConcurrentReconciles: workers,
		SkipNameValidation:      ptr.To(true),
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
			minRetryDelay, maxRetryDelay),
		NewQueue: e.newQueue,
	})
}

// newQueue makes a queue that sleeps while there is nothing to do. One with a name would
// wake twice a second to bring its metrics up to date, which nobody reads.
func (e Environment) newQueue(_ string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Clock: e.Clock})
}
