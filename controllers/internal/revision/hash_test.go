package revision

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// defaulted is a template as the API server stores it; with the images below, a genuine
// v1.37.2 controller manager named the ReplicaSets as the test expects.
const defaulted = `
metadata: {labels: {app: web}}
spec:
  containers:
  - name: c
    image: IMAGE
    imagePullPolicy: IfNotPresent
    ports: [{containerPort: 80, protocol: TCP}]
    resources: {requests: {cpu: 100m}}
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
  dnsPolicy: ClusterFirst
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {}
  terminationGracePeriodSeconds: 30
`

func TestTemplateHashIsUpstreams(t *testing.T) {
	t.Parallel()
	hash := func(image string, collisions *int32) string {
		var template corev1.PodTemplateSpec
		if err := yaml.Unmarshal([]byte(strings.Replace(defaulted, "IMAGE", image, 1)), &template); err != nil {
			t.Fatal(err)
		}
		return TemplateHash(&template, collisions)
	}
	if got := hash("nginx:1", nil); got != "587cf54946" {
		t.Errorf("nginx:1 has hash %s", got)
	}
	if got := hash("nginx:2", nil); got != "757f9f7" {
		t.Errorf("nginx:2 has hash %s", got)
	}
	if hash("nginx:1", nil) == hash("nginx:1", ptr.To[int32](1)) {
		t.Error("a collision doesn't change the hash")
	}
}
