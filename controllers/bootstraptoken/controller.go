package bootstraptoken

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	signerName  = "bootstrap-signer-controller"
	cleanerName = "token-cleaner-controller"
)

// clusterInfo is what tells new nodes of the cluster.
var clusterInfo = types.NamespacedName{Namespace: metav1.NamespacePublic, Name: "cluster-info"}

// Signer signs what tells new nodes of the cluster.
var Signer = component.Component{Name: signerName, Off: true, Watches: []string{"secrets", "configmaps"},
	Writes: []string{"configmaps:data of kube-public/cluster-info"}, Add: addSigner}

// Cleaner removes tokens that have expired.
var Cleaner = component.Component{Name: cleanerName, Off: true, Watches: []string{"secrets"},
	Writes: []string{"secrets:delete of bootstrap tokens"}, Add: addCleaner}

// tokens are Secrets that hold one.
var tokens = builder.WithPredicates(predicate.NewPredicateFuncs(func(object client.Object) bool {
	secret, ok := object.(*corev1.Secret)
	return ok && secret.Type == secretType && secret.Namespace == metav1.NamespaceSystem
}))

func addSigner(env component.Environment) error {
	r := &signer{client: env.Manager.GetClient(), clock: env.Clock}
	info := predicate.NewPredicateFuncs(func(object client.Object) bool { return client.ObjectKeyFromObject(object) == clusterInfo })
	err := env.Controller(signerName, 1).
		For(&corev1.ConfigMap{}, builder.WithPredicates(info)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: clusterInfo}}
		}), tokens).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", signerName, err)
	}
	return nil
}

func addCleaner(env component.Environment) error {
	r := &cleaner{client: env.Manager.GetClient(), clock: env.Clock}
	err := env.Controller(cleanerName, 1).For(&corev1.Secret{}, tokens).Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", cleanerName, err)
	}
	return nil
}

type signer struct {
	client client.Client
	clock  clock.PassiveClock
}

// Reconcile signs anew.
func (r *signer) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	info := &corev1.ConfigMap{}
	if err := r.client.Get(ctx, clusterInfo, info); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var secrets corev1.SecretList
	if err := r.client.List(ctx, &secrets, client.InNamespace(metav1.NamespaceSystem), client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list tokens: %w", err)
	}
	keys := map[string]string{}
	for i := range secrets.Items {
		if id, key := Signing(&secrets.Items[i], r.clock.Now()); id != "" {
			keys[id] = key
		}
	}
	signed := Signed(info.Data, keys)
	if signed == nil || maps.Equal(signed, info.Data) {
		return reconcile.Result{}, nil
	}
	info.Data = signed
	if err := r.client.Update(ctx, info); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("sign %s: %w", clusterInfo, err)
	}
	return reconcile.Result{}, nil
}

type cleaner struct {
	client client.Client
	clock  clock.PassiveClock
}

// Reconcile removes a token once it has expired.
func (r *cleaner) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := r.client.Get(ctx, request.NamespacedName, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	left, expired := Left(secret, r.clock.Now())
	if !expired {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	if err := r.client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID}); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("remove token %s: %w", request.Name, err)
	}
	return reconcile.Result{}, nil
}
