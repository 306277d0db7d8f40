package revision

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestPatchGivesTheTemplateBack(t *testing.T) {
	t.Parallel()
	template := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "app:1"}}}}
	data, err := Patch(template)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"image":"app:1","name":"c","resources":{}}]}}}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	back, err := Template(data)
	if err != nil {
		t.Fatal(err)
	}
	if !apiequality.Semantic.DeepEqual(back, template) {
		t.Errorf("got back %+v", back)
	}
	if DataHash(data, nil) == DataHash(data, ptr.To[int32](1)) {
		t.Error("a collision doesn't change the hash")
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	history := []*appsv1.ControllerRevision{
		{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Revision: 2}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}, Revision: 1},
		{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Revision: 1},
	}
	Sort(history)
	if history[0].Name != "a" || history[1].Name != "b" || history[2].Name != "c" || Latest(history) != 2 {
		t.Errorf("got %v", history)
	}
}

// What a genuine control plane stored for a StatefulSet, and what it called it.
func TestNamesAreUpstreams(t *testing.T) {
	t.Parallel()
	const stored = `{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"image":"app:1","imagePullPolicy":"IfNotPresent","name":"c","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}}}`
	if got := DataHash([]byte(stored), ptr.To[int32](0)); got != "fbfc8b6b8" {
		t.Errorf("hash %s", got)
	}
	template, err := Template([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Patch(template)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != stored {
		t.Errorf("got  %s\nwant %s", again, stored)
	}
	if got := TemplateHash(&corev1.PodTemplateSpec{}, nil); got == TemplateHash(template, nil) {
		t.Errorf("two templates have the hash %s", got)
	}
}
