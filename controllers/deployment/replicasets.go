package deployment

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/revision"
)

var deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")

// findReplicaSets picks the one whose template is the Deployment's; of several (left
// by a change of defaults, k/k#40415) the oldest.
func (p *pass) findReplicaSets() {
	for i, rs := range p.oldSets {
		if sameTemplate(&rs.Spec.Template, &p.deployment.Spec.Template) {
			p.newSet = rs
			p.oldSets = slices.Delete(p.oldSets, i, i+1)
			return
		}
	}
}

// sameTemplate compares templates without the label that tells them apart.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	delete(a.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(b.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return apiequality.Semantic.DeepEqual(a, b)
}

// makeNewSet is the ReplicaSet for the present template. Its name depends on the
// template alone, so that making it twice makes it once.
func (p *pass) makeNewSet() {
	d := p.deployment
	hash := revision.TemplateHash(&d.Spec.Template, d.Status.CollisionCount)
	template := *d.Spec.Template.DeepCopy()
	template.Labels = withLabel(template.Labels, hash)
	selector := d.Spec.Selector.DeepCopy()
	selector.MatchLabels = withLabel(selector.MatchLabels, hash)
	p.newSet = &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name:            replicaSetName(d.Name, hash),
			Namespace:       d.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, deploymentKind)},
			Labels:          maps.Clone(template.Labels),
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas:        ptr.To[int32](0),
			MinReadySeconds: d.Spec.MinReadySeconds,
			Selector:        selector,
			Template:        template,
		},
	}
	p.newSet.Spec.Replicas = ptr.To(p.newSetReplicas())
}

// newSetReplicas is how far the new ReplicaSet may grow now. Rolling, all sets
// together may have replicas+maxSurge, and the new one no more than replicas.
func (p *pass) newSetReplicas() int32 {
	d := p.deployment
	desired := *d.Spec.Replicas
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return desired
	}
	current := *p.newSet.Spec.Replicas
	room := desired + maxSurge(d) - specReplicas(p.all())
	if room <= 0 {
		return current
	}
	return current + min(room, desired-current)
}

func withLabel(labels map[string]string, hash string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	return labels
}

func replicaSetName(deployment, hash string) string {
	longest := validation.DNS1123SubdomainMaxLength - len("-") - len(hash)
	return deployment[:min(len(deployment), longest)] + "-" + hash
}

// scaleTo sets the size and the annotations that say what size of Deployment it was
// meant for. Unless forced, a set that has the size already keeps its annotations.
func (p *pass) scaleTo(rs *appsv1.ReplicaSet, replicas int32, force bool) (scaled bool) {
	if !force && *rs.Spec.Replicas == replicas {
		return false
	}
	scaled = *rs.Spec.Replicas != replicas
	rs.Spec.Replicas = ptr.To(replicas)
	desired := *p.deployment.Spec.Replicas
	setSizeAnnotations(rs, desired, desired+maxSurge(p.deployment))
	return scaled
}

// replicaSetChanged compares what this controller writes of a ReplicaSet.
func replicaSetChanged(before, after *appsv1.ReplicaSet) bool {
	return *before.Spec.Replicas != *after.Spec.Replicas ||
		before.Spec.MinReadySeconds != after.Spec.MinReadySeconds ||
		!maps.Equal(before.Annotations, after.Annotations)
}

func active(sets []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	var found []*appsv1.ReplicaSet
	for _, rs := range sets {
		if *rs.Spec.Replicas > 0 {
			found = append(found, rs)
		}
	}
	return found
}

func specReplicas(sets []*appsv1.ReplicaSet) (sum int32) {
	for _, rs := range sets {
		sum += *rs.Spec.Replicas
	}
	return sum
}

func availableReplicas(sets []*appsv1.ReplicaSet) (sum int32) {
	for _, rs := range sets {
		sum += rs.Status.AvailableReplicas
	}
	return sum
}

func byAge(a, b *appsv1.ReplicaSet) int {
	if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

func bySizeThen(age int) func(a, b *appsv1.ReplicaSet) int {
	return func(a, b *appsv1.ReplicaSet) int {
		if c := cmp.Compare(*b.Spec.Replicas, *a.Spec.Replicas); c != 0 {
			return c
		}
		return age * byAge(a, b)
	}
}
