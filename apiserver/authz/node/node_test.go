package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/request"
)

func TestKubelets(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"}, Spec: corev1.PodSpec{
		ServiceAccountName: "robot", ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
		InitContainers: []corev1.Container{{Env: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "env"}}}}}}},
		Containers:     []corev1.Container{{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}}}}},
		Volumes: []corev1.Volume{
			{Name: "a", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "projected"}}}}}}},
			{Name: "b", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}},
			{Name: "c", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		}}}
	a := Authorizer{
		Pods: func(node string) []*corev1.Pod {
			if node == "w" {
				return []*corev1.Pod{pod}
			}
			return nil
		},
		Claim: func(namespace, name string) string { return map[string]string{"n/claim": "volume"}[namespace+"/"+name] },
	}
	kubelet := func(name string) *request.User {
		return &request.User{Name: "system:node:" + name, Groups: []string{"system:nodes"}}
	}
	ask := func(verb, group, resource, sub, namespace, name string) *request.Info {
		return &request.Info{IsResource: true, Verb: verb, Group: group, Resource: resource, Subresource: sub, Namespace: namespace, Name: name}
	}
	for _, c := range []struct {
		name string
		user *request.User
		info *request.Info
		want bool
	}{
		{"a Secret to pull with", kubelet("w"), ask("get", "", "secrets", "", "n", "pull"), true},
		{"one of an init container", kubelet("w"), ask("watch", "", "secrets", "", "n", "env"), true},
		{"a projected one", kubelet("w"), ask("get", "", "secrets", "", "n", "projected"), true},
		{"of another namespace", kubelet("w"), ask("get", "", "secrets", "", "m", "pull"), false},
		{"of no pod", kubelet("w"), ask("get", "", "secrets", "", "n", "other"), false},
		{"of another node's pod", kubelet("v"), ask("get", "", "secrets", "", "n", "pull"), false},
		{"all Secrets", kubelet("w"), ask("list", "", "secrets", "", "n", ""), false},
		{"a Secret's change", kubelet("w"), ask("update", "", "secrets", "", "n", "pull"), false},
		{"a ConfigMap", kubelet("w"), ask("get", "", "configmaps", "", "n", "conf"), true},
		{"a claim", kubelet("w"), ask("get", "", "persistentvolumeclaims", "", "n", "claim"), true},
		{"a claim of the pod's own", kubelet("w"), ask("get", "", "persistentvolumeclaims", "", "n", "p-c"), true},
		{"a volume", kubelet("w"), ask("get", "", "persistentvolumes", "", "", "volume"), true},
		{"another volume", kubelet("w"), ask("get", "", "persistentvolumes", "", "", "other"), false},
		{"a token", kubelet("w"), ask("create", "", "serviceaccounts", "token", "n", "robot"), true},
		{"another's token", kubelet("w"), ask("create", "", "serviceaccounts", "token", "n", "default"), false},
		{"its lease", kubelet("w"), ask("update", "coordination.k8s.io", "leases", "", "kube-node-lease", "w"), true},
		{"another's lease", kubelet("w"), ask("update", "coordination.k8s.io", "leases", "", "kube-node-lease", "v"), false},
		{"a lease elsewhere", kubelet("w"), ask("update", "coordination.k8s.io", "leases", "", "default", "w"), false},
		{"pods", kubelet("w"), ask("watch", "", "pods", "", "", ""), true},
		{"deployments", kubelet("w"), ask("get", "apps", "deployments", "", "n", "d"), false},
		{"somebody in the group without the name", &request.User{Name: "w", Groups: []string{"system:nodes"}}, ask("watch", "", "pods", "", "", ""), false},
		{"somebody with the name without the group", &request.User{Name: "system:node:w"}, ask("watch", "", "pods", "", "", ""), false},
	} {
		if got, reason := a.Authorize(c.user, c.info); got != c.want {
			t.Errorf("%s: %t, %s", c.name, got, reason)
		}
	}
}
