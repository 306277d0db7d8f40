package rootca

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	configMapName         = "kube-root-ca.crt"
	dataKey               = "ca.crt"
	descriptionAnnotation = "kubernetes.io/description"
	description           = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
		"No other usage is guaranteed across distributions of Kubernetes clusters."
)

// Wanted gives the ConfigMap as it shall be, and whether that is a change. current is
// nil when there is none. A description of somebody else's is left in place.
func Wanted(namespace string, current *corev1.ConfigMap, bundle []byte) (wanted *corev1.ConfigMap, change bool) {
	data := map[string]string{dataKey: string(bundle)}
	if current == nil {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: configMapName,
				Annotations: map[string]string{descriptionAnnotation: description},
			},
			Data: data,
		}, true
	}
	if maps.Equal(current.Data, data) && current.Annotations[descriptionAnnotation] != "" {
		return current, false
	}
	wanted = current.DeepCopy()
	wanted.Data = data
	metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, descriptionAnnotation, description)
	return wanted, true
}
