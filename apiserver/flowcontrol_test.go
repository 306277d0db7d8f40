package apiserver_test

import (
	"context"
	"errors"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// awaitSchema waits until a FlowSchema is as wanted.
func awaitSchema(t *testing.T, c kubernetes.Interface, name string, wanted func(*flowcontrolv1.FlowSchema) bool) {
	t.Helper()
	w, err := c.FlowcontrolV1().FlowSchemas().Watch(t.Context(), metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if s, ok := e.Object.(*flowcontrolv1.FlowSchema); ok && wanted(s) {
			return
		}
	}
	t.Fatalf("FlowSchema %s did not become as wanted", name)
}

func TestEveryClusterBeginsWithFlowSchemas(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	for _, name := range []string{"exempt", "probes", "system-leader-election", "system-node-high", "system-nodes", "kube-controller-manager", "kube-scheduler",
		"kube-system-service-accounts", "service-accounts", "global-default", "catch-all"} {
		awaitSchema(t, c, name, func(s *flowcontrolv1.FlowSchema) bool {
			return len(s.Status.Conditions) == 1 && s.Status.Conditions[0].Status == flowcontrolv1.ConditionFalse
		})
	}
	if levels, err := c.FlowcontrolV1().PriorityLevelConfigurations().List(ctx, metav1.ListOptions{}); err != nil || len(levels.Items) != 8 {
		t.Errorf("%d levels, %v", len(levels.Items), err)
	}

	// What is removed comes back.
	if err := c.FlowcontrolV1().FlowSchemas().Delete(ctx, "probes", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitSchema(t, c, "probes", func(*flowcontrolv1.FlowSchema) bool { return true })

	// A change stays when it says so, and only then.
	change := func(patch string) {
		t.Helper()
		if _, err := c.FlowcontrolV1().FlowSchemas().Patch(ctx, "global-default", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	change(`{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}},"spec":{"matchingPrecedence":9000}}`)
	// The other is put right after it, so whoever put this one right would have done so by then.
	if _, err := c.FlowcontrolV1().FlowSchemas().Patch(ctx, "service-accounts", types.MergePatchType, []byte(`{"spec":{"matchingPrecedence":77}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitSchema(t, c, "service-accounts", func(s *flowcontrolv1.FlowSchema) bool { return s.Spec.MatchingPrecedence == 9000 && s.Generation > 1 })
	awaitSchema(t, c, "global-default", func(s *flowcontrolv1.FlowSchema) bool { return s.Spec.MatchingPrecedence == 9000 })
	change(`{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"true"}}}`)
	awaitSchema(t, c, "global-default", func(s *flowcontrolv1.FlowSchema) bool { return s.Spec.MatchingPrecedence == 9900 })

	// The shares of the exempt level are anyone's to choose.
	if _, err := c.FlowcontrolV1().PriorityLevelConfigurations().Patch(ctx, "exempt", types.MergePatchType, []byte(`{"spec":{"exempt":{"lendablePercent":7}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	// One that says it is kept, of a name that no server knows, is a server's that was here before.
	forgotten, err := c.FlowcontrolV1().PriorityLevelConfigurations().Create(ctx, &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "forgotten", Annotations: map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"}},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.FlowcontrolV1().PriorityLevelConfigurations().Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=forgotten", ResourceVersion: forgotten.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == "DELETED" {
			break
		}
	}
	if l, err := c.FlowcontrolV1().PriorityLevelConfigurations().Get(ctx, "exempt", metav1.GetOptions{}); err != nil || ptr.Deref(l.Spec.Exempt.LendablePercent, 0) != 7 {
		t.Errorf("%+v, %v", l.Spec.Exempt, err)
	}
}

func TestComponentStatuses(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx := t.Context()
	ended := make(chan struct{})
	failing := s.Component("scheduler", func(context.Context) error {
		defer close(ended)
		got, err := c.CoreV1().ComponentStatuses().Get(ctx, "scheduler", metav1.GetOptions{})
		if err != nil || got.Conditions[0].Status != "True" || got.Conditions[0].Message != "ok" {
			t.Errorf("while it runs: %+v, %v", got, err)
		}
		return errors.New("no more")
	})
	if err := failing(ctx); err == nil {
		t.Error("its error is lost")
	}
	<-ended
	list, err := c.CoreV1().ComponentStatuses().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name!=controller-manager"})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, item := range list.Items {
		want := map[string]string{"etcd-0": "True", "scheduler": "False"}[item.Name]
		if string(item.Conditions[0].Status) != want {
			t.Errorf("%s: %+v", item.Name, item.Conditions)
		}
	}
	if _, err := c.CoreV1().ComponentStatuses().Get(ctx, "cloud", metav1.GetOptions{}); err == nil || err.Error() != `componentstatus "cloud" not found` {
		t.Errorf("%v", err)
	}
	if _, err := c.CoreV1().ComponentStatuses().Watch(ctx, metav1.ListOptions{}); err == nil || err.Error() != `watch is not supported on resources of kind "componentstatuses"` {
		t.Errorf("%v", err)
	}
}
