package goform

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestShown: what messages show of a value.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  string
	}{
		{corev1.PodResourceClaim{Name: "a", ResourceClaimName: ptr.To("x")}, `{"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":null}`},
		{&corev1.Taint{Key: "a", Effect: "NoSchedule"}, `{"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}`},
		{corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}}, `{"Limits":{"cpu":"1"},"Requests":null,"Claims":null}`},
		{corev1.TopologySpreadConstraint{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}.LabelSelector, `{"matchLabels":{"a":"b"}}`},
		{corev1.ServicePort{Protocol: "TCP", Port: 80}, `{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}`},
		{map[string]string(nil), `null`},
		{corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"<"}}}, `{"Exec":{"Command":["\u003c"]},"HTTPGet":null,"TCPSocket":null,"Sleep":null}`},
	} {
		got, err := json.Marshal(Of(c.value))
		if err != nil || string(got) != c.want {
			t.Errorf("%s, %v, want %s", got, err, c.want)
		}
	}
	if got, want := Diff(corev1.HTTPHeader{Name: "a"}, corev1.HTTPHeader{Name: "b"}), "@@ -1,4 +1,4 @@\n {\n- \"Name\": \"a\",\n+ \"Name\": \"b\",\n  \"Value\": \"\"\n }\n"; got != want {
		t.Errorf("difference %q, want %q", got, want)
	}
}
