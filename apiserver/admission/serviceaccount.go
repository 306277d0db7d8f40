package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

const (
	tokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenVolume    = "kube-api-access-"
	// tokenSeconds is an odd number on purpose: see the token endpoint.
	tokenSeconds = 60*60 + 7
	// mirrorAnnotation marks pods that a kubelet made of its own files.
	mirrorAnnotation = "kubernetes.io/config.mirror"
)

// serviceAccount gives pods an account, and its token to all their containers.
func serviceAccount(objects Objects) plugin {
	return plugin{name: "ServiceAccount",
		mutate: func(_ context.Context, a *registry.Attributes) error {
			pod, ok := podToCreate(a)
			if !ok || pod.Annotations[mirrorAnnotation] != "" {
				return nil
			}
			if pod.Spec.ServiceAccountName == "" {
				pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount = "default", "default"
			}
			obj, err := objects.Get("", "serviceaccounts", a.Namespace, pod.Spec.ServiceAccountName)
			if apierrors.IsNotFound(err) {
				// Upstream asks its cache, which names the kind and not the resource.
				err = apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, pod.Spec.ServiceAccountName)
			}
			if err != nil {
				return apierrors.NewForbidden(a.Resource.GR(), pod.Name, fmt.Errorf("error looking up service account %s/%s: %w", a.Namespace, pod.Spec.ServiceAccountName, err))
			}
			account := obj.(*corev1.ServiceAccount)
			if ptr.Deref(pod.Spec.AutomountServiceAccountToken, ptr.Deref(account.AutomountServiceAccountToken, true)) {
				mountToken(pod)
			}
			if len(pod.Spec.ImagePullSecrets) == 0 {
				pod.Spec.ImagePullSecrets = append([]corev1.LocalObjectReference(nil), account.ImagePullSecrets...)
			}
			return nil
		},
	}
}

// podToCreate gives the pod that is about to be created.
func podToCreate(a *registry.Attributes) (*corev1.Pod, bool) {
	if !isCore(a, "pods") || a.Operation != registry.Create {
		return nil, false
	}
	pod, ok := a.Object.(*corev1.Pod)
	return pod, ok
}

// mountToken mounts the token into each container that has nothing at its place.
func mountToken(pod *corev1.Pod) {
	name := ""
	for _, v := range pod.Spec.Volumes {
		if len(v.Name) > len(tokenVolume) && v.Name[:len(tokenVolume)] == tokenVolume {
			name = v.Name
		}
	}
	add := name == ""
	if add {
		name = tokenVolume + rand.String(5)
	}
	mounted := false
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if !hasMount(&list[i], tokenMountPath) {
				list[i].VolumeMounts = append(list[i].VolumeMounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenMountPath})
				mounted = true
			}
		}
	}
	if add && mounted {
		pod.Spec.Volumes = append(pod.Spec.Volumes, tokenSource(name))
	}
}

func hasMount(c *corev1.Container, path string) bool {
	for _, m := range c.VolumeMounts {
		if m.MountPath == path {
			return true
		}
	}
	return false
}

// tokenSource is a volume with the token, the authority that signs the server's certificate, and the namespace.
func tokenSource(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To(corev1.ProjectedVolumeSourceDefaultMode),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: ptr.To[int64](tokenSeconds)}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
			}}},
		},
	}}}
}
