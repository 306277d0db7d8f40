package replication

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/replicaset"
)

// What a ReplicationController shows survives the way through a ReplicaSet and back.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	rc := &corev1.ReplicationController{
		Spec: corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](2), Selector: map[string]string{"app": "a"}},
		Status: corev1.ReplicationControllerStatus{
			Replicas: 5, FullyLabeledReplicas: 4, ReadyReplicas: 3, AvailableReplicas: 2, ObservedGeneration: 7,
			Conditions: []corev1.ReplicationControllerCondition{{Type: corev1.ReplicationControllerReplicaFailure, Status: corev1.ConditionTrue, Reason: "r", Message: "m"}},
		},
	}
	if got := Status(AsReplicaSet(rc).Status); !apiequality.Semantic.DeepEqual(got, rc.Status) {
		t.Errorf("got %+v, want %+v", got, rc.Status)
	}
}

func TestDecisionsAreShared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replicas *int32
		create   int
	}{
		"three":              {ptr.To[int32](3), 3},
		"none":               {ptr.To[int32](0), 0},
		"not said means one": {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observed := replicaset.Observed{Now: time.Now(), ReplicaSet: AsReplicaSet(&corev1.ReplicationController{
				Spec: corev1.ReplicationControllerSpec{Replicas: c.replicas},
			})}
			plan := replicaset.Decide(observed)
			if plan.Create != c.create {
				t.Errorf("creates %d, want %d", plan.Create, c.create)
			}
			if c.create == 0 {
				return
			}
			status := Status(replicaset.Status(observed, plan, errors.New("quota")))
			if len(status.Conditions) != 1 || status.Conditions[0].Reason != "FailedCreate" {
				t.Errorf("conditions %v", status.Conditions)
			}
		})
	}
}
