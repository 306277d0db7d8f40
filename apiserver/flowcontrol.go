package apiserver

import (
	"context"
	"errors"
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/flowcontrol"
)

// flowProducer is who makes the schemas and levels that every cluster begins with, as in a genuine server.
const flowProducer = "api-priority-and-fairness-config-producer-v1"

// flowControl keeps the schemas and levels that every cluster begins with.
func (c *conditions) flowControl(ctx context.Context) error {
	own := objects{c.server.handlers}
	levels, err := own.List(flowcontrolv1.GroupName, "prioritylevelconfigurations", "")
	if err != nil {
		return err
	}
	schemas, err := own.List(flowcontrolv1.GroupName, "flowschemas", "")
	if err != nil {
		return err
	}
	client := c.client.FlowcontrolV1()
	return errors.Join(
		keepFlow(ctx, client.PriorityLevelConfigurations(), levels, flowcontrol.Levels(), reviseLevel),
		keepFlow(ctx, client.FlowSchemas(), schemas, flowcontrol.Schemas(), reviseSchema))
}

// flowClient writes schemas or levels.
type flowClient[T resource.Object] interface {
	Create(ctx context.Context, obj T, o metav1.CreateOptions) (T, error)
	Update(ctx context.Context, obj T, o metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, o metav1.DeleteOptions) error
}

// keepFlow makes what is missing, puts right what is to be as it was, and removes what an older server left. Who was faster is
// seen by an event.
func keepFlow[T resource.Object](ctx context.Context, client flowClient[T], have []resource.Object, want []T, revise func(have, want T) (T, bool)) error {
	there := make(map[string]T, len(have))
	for _, o := range have {
		there[o.GetName()] = o.(T)
	}
	var errs []error
	for _, w := range want {
		h, ok := there[w.GetName()]
		delete(there, w.GetName())
		if !ok {
			_, err := client.Create(ctx, w, metav1.CreateOptions{FieldManager: flowProducer})
			errs = append(errs, unlessThere(err))
			continue
		}
		revised, differs := revise(h, w)
		if !differs {
			continue
		}
		if _, err := client.Update(ctx, revised, metav1.UpdateOptions{FieldManager: flowProducer}); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	for name, o := range there {
		if kept, err := strconv.ParseBool(o.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey]); err != nil || !kept {
			continue // somebody's own
		}
		if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// reviseLevel is what a level becomes that is there; false: it stays. Of the exempt level its shares are anyone's to choose.
func reviseLevel(have, want *flowcontrolv1.PriorityLevelConfiguration) (*flowcontrolv1.PriorityLevelConfiguration, bool) {
	out := have.DeepCopy()
	kept := keepsSpec(have)
	if kept {
		exempt := out.Spec.Exempt
		out.Spec = *want.Spec.DeepCopy()
		if have.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt {
			out.Spec.Exempt = exempt
		}
	}
	annotate(out, kept)
	return out, !equality.Semantic.DeepEqual(have, out)
}

// reviseSchema is what a schema becomes that is there; false: it stays.
func reviseSchema(have, want *flowcontrolv1.FlowSchema) (*flowcontrolv1.FlowSchema, bool) {
	out := have.DeepCopy()
	kept := keepsSpec(have)
	if kept {
		out.Spec = *want.Spec.DeepCopy()
	}
	annotate(out, kept)
	return out, !equality.Semantic.DeepEqual(have, out)
}

// keepsSpec says whether an object's spec is to be as it was in the beginning: it must be, or is said to be, or nobody said anything
// and nobody changed it.
func keepsSpec(o metav1.Object) bool {
	if flowcontrol.Mandatory(o.GetName()) {
		return true
	}
	if says, err := strconv.ParseBool(o.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey]); err == nil {
		return says
	}
	return o.GetGeneration() == 1
}

// annotate says whether the spec is kept, unless that is said already.
func annotate(o metav1.Object, kept bool) {
	a := o.GetAnnotations()
	if says, err := strconv.ParseBool(a[flowcontrolv1.AutoUpdateAnnotationKey]); err == nil && says == kept {
		return
	}
	if a == nil {
		a = map[string]string{}
	}
	a[flowcontrolv1.AutoUpdateAnnotationKey] = strconv.FormatBool(kept)
	o.SetAnnotations(a)
}
