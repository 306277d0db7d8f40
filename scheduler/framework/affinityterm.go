package framework

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
)

// AffinityTerm is one wish of a pod for or against the company of others, parsed.
type AffinityTerm struct {
	// TopologyKey is the label of nodes whose value says which nodes are one place.
	TopologyKey string
	selector    labels.Selector
	// namespaces are those that are named, inNamespaces chooses more by their labels.
	namespaces   sets.Set[string]
	inNamespaces labels.Selector
	// Weight is of preferred terms, 1 to 100.
	Weight int64
	// Key is the same for terms that mean the same.
	Key string
}

// AffinityTerms are all such wishes of a pod.
type AffinityTerms struct {
	Required, RequiredAnti   []AffinityTerm
	Preferred, PreferredAnti []AffinityTerm
	// Err says that the pod's terms can't be parsed.
	Err error
}

// Any says that there is a wish at all.
func (a *AffinityTerms) Any() bool {
	return len(a.Required)+len(a.RequiredAnti)+len(a.Preferred)+len(a.PreferredAnti) > 0
}

// NamespaceLabels gives the labels of a namespace, nil when it isn't known.
type NamespaceLabels func(namespace string) labels.Set

// Matches says that the term means a pod.
func (t *AffinityTerm) Matches(pod *corev1.Pod, of NamespaceLabels) bool {
	if !t.selector.Matches(labels.Set(pod.Labels)) {
		return false
	}
	return t.namespaces.Has(pod.Namespace) || t.inNamespaces.Empty() ||
		t.inNamespaces != nothing && t.inNamespaces.Matches(of(pod.Namespace))
}

// Only gives the namespaces, sorted, and the selector of a term that means pods of named
// namespaces and not all of them.
func (t *AffinityTerm) Only() (namespaces []string, selector labels.Selector, ok bool) {
	if t.inNamespaces != nothing || t.selector.Empty() {
		return nil, nil, false
	}
	return sets.List(t.namespaces), t.selector, true
}

// identify gives the term its key.
func (t *AffinityTerm) identify() AffinityTerm {
	t.Key = fmt.Sprintf("%s\x00%s\x00%s\x00%v\x00%d", t.TopologyKey, t.selector, t.inNamespaces, sets.List(t.namespaces), t.Weight)
	return *t
}

var nothing = labels.Nothing()

// ParseAffinity gives what a pod wishes.
func ParseAffinity(pod *corev1.Pod) (terms AffinityTerms) {
	affinity := pod.Spec.Affinity
	if affinity == nil {
		return terms
	}
	parse := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) (must, likes []AffinityTerm) {
		for i := range required {
			must = append(must, terms.parse(pod, &required[i], 0))
		}
		for i := range preferred {
			likes = append(likes, terms.parse(pod, &preferred[i].PodAffinityTerm, preferred[i].Weight))
		}
		return must, likes
	}
	if a := affinity.PodAffinity; a != nil {
		terms.Required, terms.Preferred = parse(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := affinity.PodAntiAffinity; a != nil {
		terms.RequiredAnti, terms.PreferredAnti = parse(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if terms.Err != nil {
		return AffinityTerms{Err: terms.Err}
	}
	return terms
}

// parse gives one term; an error is kept. Without namespaces and a selector for them it
// means the pod's own namespace. matchLabelKeys are part of the selector already: the API
// server puts them there.
func (a *AffinityTerms) parse(pod *corev1.Pod, term *corev1.PodAffinityTerm, weight int32) AffinityTerm {
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	if err == nil && term.NamespaceSelector == nil {
		return (&AffinityTerm{
			TopologyKey: term.TopologyKey, selector: selector, namespaces: namedNamespaces(pod, term),
			inNamespaces: nothing, Weight: int64(weight),
		}).identify()
	}
	var inNamespaces labels.Selector
	if err == nil {
		inNamespaces, err = metav1.LabelSelectorAsSelector(term.NamespaceSelector)
	}
	if err != nil {
		a.Err = fmt.Errorf("parse an affinity term of pod %s/%s: %w", pod.Namespace, pod.Name, err)
		return AffinityTerm{}
	}
	return (&AffinityTerm{
		TopologyKey: term.TopologyKey, selector: selector, namespaces: sets.New(term.Namespaces...),
		inNamespaces: inNamespaces, Weight: int64(weight),
	}).identify()
}

func namedNamespaces(pod *corev1.Pod, term *corev1.PodAffinityTerm) sets.Set[string] {
	if len(term.Namespaces) == 0 {
		return sets.New(pod.Namespace)
	}
	return sets.New(term.Namespaces...)
}
