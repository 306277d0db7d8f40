package stages

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

const benchPod = `
apiVersion: v1
kind: Pod
metadata:
  name: actor
  namespace: default
  uid: a
  resourceVersion: "7"
  creationTimestamp: "2030-01-01T12:00:00Z"
  labels: {app: web, pod-template-hash: 5d8f}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: b, controller: true}]
spec:
  nodeName: stage-0
  containers:
  - name: main
    image: example.com/nothing:1
    resources: {requests: {cpu: 100m, memory: 128Mi}}
    volumeMounts: [{name: token, mountPath: /var/run/secrets}]
  tolerations: [{key: a, operator: Exists}, {key: b, operator: Exists}]
  volumes: [{name: token, projected: {sources: [{serviceAccountToken: {path: token}}]}}]
status:
  phase: Pending
  qosClass: Burstable
  conditions: [{type: PodScheduled, status: "True", lastTransitionTime: "2030-01-01T12:00:00Z"}]
`

// BenchmarkTransition is a pod's start, all but the request: the event's object is taken, the stage chosen among seven, its patch made.
func BenchmarkTransition(b *testing.B) {
	all, err := Load("testdata/pods.yaml", "testdata/crash.yaml", "testdata/nodes.yaml")
	if err != nil {
		b.Fatal(err)
	}
	var compiled []*stage
	for i := range all {
		made, _ := compile(&all[i], time.Now)
		compiled = append(compiled, made)
	}
	w := worldOf(time.Now())
	o := objectOf(b, benchPod)
	b.ReportAllocs()
	for b.Loop() {
		plain(o)
		chosen := judge(compiled, o, rand.Int64N)
		for i := range chosen.steps {
			if chosen.steps[i].Patch == nil {
				continue
			}
			if body, err := chosen.steps[i].body(w, o); err != nil || body == nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkQuery is one condition of a selector: followed by hand, and by jq.
func BenchmarkQuery(b *testing.B) {
	o := objectOf(b, benchPod)
	for _, expression := range []string{".status.phase", ".metadata.ownerReferences.[].kind", `.status.conditions.[] | select(.type == "Ready") | .status`, ".status.phase | ."} {
		find, err := compileQuery(expression)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(expression, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				find(o)
			}
		})
	}
}

// BenchmarkEvent is what an event costs of an object that no stage is for, by way of the queue.
func BenchmarkEvent(b *testing.B) {
	p := &Player{options: Options{Clock: clock.RealClock{}, Logger: slog.New(slog.DiscardHandler)}, world: worldOf(time.Now()), chance: rand.Int64N}
	c := newCast(p, podKind, resource{}, []*stage{stageOf(b, "resourceRef: {kind: Pod}\nselector: {matchExpressions: [{key: .status.phase, operator: In, values: [Failed]}]}")}, &record.FakeRecorder{})
	o := objectOf(b, benchPod)
	metadata := o["metadata"].(map[string]any)
	b.ReportAllocs()
	for i := 8; b.Loop(); i++ {
		metadata["resourceVersion"] = fmt.Sprint(i)
		c.see(o)
		key, _ := c.queue.Get()
		c.look(context.Background(), key)
		c.queue.Done(key)
	}
	c.queue.ShutDown()
}
