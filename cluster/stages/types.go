package stages

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupKind is that of a Stage, version the only one that is understood.
var groupKind = schema.GroupKind{Group: "kwok.x-k8s.io", Kind: "Stage"}

const version = "v1alpha1"

// Stage is one step in the life of the objects of a kind.
type Stage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec            `json:"spec"`
	Status            json.RawMessage `json:"status,omitempty"` // nobody reads it
}

// Spec says which objects a stage is for, when it comes and what it does.
type Spec struct {
	ResourceRef ResourceRef `json:"resourceRef"`
	// Selector chooses objects; nil: none.
	Selector *Selector `json:"selector,omitempty"`
	// Weight is how often the stage is chosen of those that match.
	Weight     int64           `json:"weight,omitempty"`
	WeightFrom *ExpressionFrom `json:"weightFrom,omitempty"`
	Delay      *Delay          `json:"delay,omitempty"`
	// Next is the older form of Steps, which count if both are there.
	Next  *Next  `json:"next,omitempty"`
	Steps []Step `json:"steps,omitempty"`
	// ImmediateNextStage needs nothing: what the player writes comes back to it at once.
	ImmediateNextStage *bool `json:"immediateNextStage,omitempty"`
}

// ResourceRef names a kind.
type ResourceRef struct {
	// APIGroup is group and version, as in apps/v1; empty: v1.
	APIGroup string `json:"apiGroup,omitempty"`
	Kind     string `json:"kind"`
}

// Selector chooses objects; all that it says must hold.
type Selector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
	MatchAnnotations map[string]string `json:"matchAnnotations,omitempty"`
	MatchExpressions []MatchExpression `json:"matchExpressions,omitempty"`
}

// MatchExpression is a condition: CEL, JQ, or the older form of JQ.
type MatchExpression struct {
	CEL         *CEL         `json:"cel,omitempty"`
	JQ          *Requirement `json:"jq,omitempty"`
	Requirement `json:",inline"`
}

// Requirement is what the values that Key finds, an expression of jq, must be.
type Requirement struct {
	Key      string   `json:"key,omitempty"`
	Operator Operator `json:"operator,omitempty"`
	Values   []string `json:"values,omitempty"`
}

// Operator relates what was found to the values.
type Operator string

// Operators.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
)

// ExpressionFrom takes a value from the object: by CEL, JQ, or the older form of JQ.
type ExpressionFrom struct {
	CEL            *CEL   `json:"cel,omitempty"`
	JQ             *JQ    `json:"jq,omitempty"`
	ExpressionFrom string `json:"expressionFrom,omitempty"`
}

// CEL is an expression in which the object is called self.
type CEL struct {
	Expression string `json:"expression,omitempty"`
}

// JQ is an expression of jq.
type JQ struct {
	Expression string `json:"expression,omitempty"`
}

// Delay is how long a stage waits. With a jitter it is a random time between the two; a jitter below the duration counts alone.
type Delay struct {
	DurationMilliseconds       *int64          `json:"durationMilliseconds,omitempty"`
	DurationFrom               *ExpressionFrom `json:"durationFrom,omitempty"`
	JitterDurationMilliseconds *int64          `json:"jitterDurationMilliseconds,omitempty"`
	JitterDurationFrom         *ExpressionFrom `json:"jitterDurationFrom,omitempty"`
}

// Next is what happens, in this order: event, finalizers, patches or status, deletion.
type Next struct {
	Event      *Event      `json:"event,omitempty"`
	Finalizers *Finalizers `json:"finalizers,omitempty"`
	Delete     bool        `json:"delete,omitempty"`
	Patches    []Patch     `json:"patches,omitempty"`
	// StatusTemplate is a patch of the status; Patches count if both are there.
	StatusTemplate    string         `json:"statusTemplate,omitempty"`
	StatusSubresource *string        `json:"statusSubresource,omitempty"`
	StatusPatchAs     *Impersonation `json:"statusPatchAs,omitempty"`
}

// Step is something that happens.
type Step struct {
	Patch      *Patch      `json:"patch,omitempty"`
	Event      *Event      `json:"event,omitempty"`
	Finalizers *Finalizers `json:"finalizers,omitempty"`
	Delete     bool        `json:"delete,omitempty"`
	Apply      *Apply      `json:"apply,omitempty"`
}

// Patch changes the object.
type Patch struct {
	Subresource string `json:"subresource,omitempty"`
	// Root is the field that the template is about; empty: the object.
	Root     string `json:"root,omitempty"`
	Template string `json:"template,omitempty"`
	// Type is json, merge or strategic; empty: strategic for pods and nodes, merge for others.
	Type          string         `json:"type,omitempty"`
	Impersonation *Impersonation `json:"impersonation,omitempty"`
}

// Apply makes another object, or changes it.
type Apply struct {
	Template    string `json:"template,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	// Type is apply, merge or strategic; empty: apply.
	Type          string         `json:"type,omitempty"`
	Impersonation *Impersonation `json:"impersonation,omitempty"`
}

// Impersonation is who is said to write.
type Impersonation struct {
	Username string `json:"username"`
}

// Finalizers to remove and to add.
type Finalizers struct {
	Add    []Finalizer `json:"add,omitempty"`
	Remove []Finalizer `json:"remove,omitempty"`
	// Empty removes all.
	Empty bool `json:"empty,omitempty"`
}

// Finalizer is one.
type Finalizer struct {
	Value string `json:"value,omitempty"`
}

// Event is told about the object.
type Event struct {
	Type    string `json:"type,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// OwnPods tells whether stages are the life of pods, so that the kubelets of simulated nodes must leave them alone.
func OwnPods(all []Stage) bool {
	for i := range all {
		if kind, err := all[i].Spec.ResourceRef.kind(); err == nil && kind == podKind {
			return true
		}
	}
	return false
}

// Kinds that live on simulated nodes, or are those.
var (
	podKind  = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	nodeKind = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
)

func (r ResourceRef) kind() (schema.GroupVersionKind, error) {
	if r.APIGroup == "" {
		r.APIGroup = "v1"
	}
	gv, err := schema.ParseGroupVersion(r.APIGroup)
	return gv.WithKind(r.Kind), err
}
