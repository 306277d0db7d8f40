package policystatus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
	applyv1 "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "validatingadmissionpolicy-status-controller"

// owner is the field manager of what is written.
const owner = "validatingadmissionpolicy-status"

// Component is the controller of policies' statuses.
var Component = component.Component{
	Name:    name,
	Watches: []string{"admissionregistration.k8s.io/validatingadmissionpolicies"},
	Writes:  []string{"admissionregistration.k8s.io/validatingadmissionpolicies:status"},
	Add:     add,
}

func add(env component.Environment) error {
	d, err := discovery.NewDiscoveryClientForConfigAndClient(env.Manager.GetConfig(), env.Manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	r := &reconciler{client: env.Manager.GetClient(), mapper: env.Manager.GetRESTMapper(), documents: d.OpenAPIV3, logger: env.Logger}
	if err := env.Controller(name, 5).For(&admissionv1.ValidatingAdmissionPolicy{}).Complete(component.Quietly(r)); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	mapper meta.RESTMapper
	// documents gives a new client of the published structures: it remembers what it read.
	documents func() openapi.Client
	logger    *slog.Logger
}

// Reconcile looks at one policy, unless it was looked at as it is.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	p := &admissionv1.ValidatingAdmissionPolicy{}
	if err := r.client.Get(ctx, request.NamespacedName, p); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if p.Generation <= p.Status.ObservedGeneration {
		return reconcile.Result{}, nil
	}
	t := types{documents: r.documents(), read: map[schema.GroupVersion]document{}}
	var kinds []Kind
	for _, gvk := range r.kinds(p) {
		if declared := r.typeOf(&t, gvk); declared != nil {
			kinds = append(kinds, Kind{gvk, declared})
		}
	}
	var params *apiservercel.DeclType
	if gvk := ParamKind(p); !gvk.Empty() {
		params = r.typeOf(&t, gvk)
	}
	found := applyv1.TypeChecking()
	for _, w := range Warnings(p, kinds, params) {
		found.WithExpressionWarnings(applyv1.ExpressionWarning().WithFieldRef(w.FieldRef).WithWarning(w.Warning))
	}
	status := applyv1.ValidatingAdmissionPolicyStatus().WithObservedGeneration(p.Generation).WithTypeChecking(found)
	err := r.client.Status().Apply(ctx, applyv1.ValidatingAdmissionPolicy(p.Name).WithStatus(status), client.FieldOwner(owner), client.ForceOwnership)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("apply status of policy: %w", err)
	}
	return reconcile.Result{}, nil
}

// kinds are those that a policy's rules name, as far as they are served.
func (r *reconciler) kinds(p *admissionv1.ValidatingAdmissionPolicy) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, rule := range Resources(p) {
		count := 0
		for _, gvr := range rule {
			kinds, err := r.mapper.KindsFor(gvr)
			if err != nil {
				continue // it is not served, or not yet
			}
			for _, k := range kinds {
				out = append(out, k)
				if count++; count == maxKinds {
					return Sorted(out)
				}
			}
		}
	}
	return Sorted(out)
}

// typeOf gives the type of a kind; nil if none is known.
func (r *reconciler) typeOf(t *types, gvk schema.GroupVersionKind) *apiservercel.DeclType {
	declared, err := t.of(gvk)
	if err != nil && !errors.Is(err, errUnknown) {
		r.logger.Warn("the type of a kind can't be read", "kind", gvk, "error", err)
	}
	return declared
}

// types reads each published document once.
type types struct {
	documents openapi.Client
	paths     map[string]openapi.GroupVersion
	read      map[schema.GroupVersion]document
}

func (t *types) of(gvk schema.GroupVersionKind) (*apiservercel.DeclType, error) {
	d, err := t.document(gvk.GroupVersion())
	if err != nil {
		return nil, err
	}
	return d.typeOf(gvk)
}

func (t *types) document(gv schema.GroupVersion) (document, error) {
	if d, ok := t.read[gv]; ok {
		return d, nil
	}
	if t.paths == nil {
		paths, err := t.documents.Paths()
		if err != nil {
			return nil, fmt.Errorf("list OpenAPI documents: %w", err)
		}
		t.paths = paths
	}
	path := "apis/" + gv.String()
	if gv.Group == "" {
		path = "api/" + gv.Version
	}
	published := t.paths[path]
	if published == nil {
		return nil, errUnknown
	}
	body, err := published.Schema(runtime.ContentTypeJSON)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI document of %s: %w", gv, err)
	}
	if t.read[gv], err = parse(body); err != nil {
		return nil, err
	}
	return t.read[gv], nil
}
