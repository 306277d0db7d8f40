package scheduler_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kogge-dev/kogge/scheduler"
)

// twoZones is a cluster of two nodes, with classes and a CSI driver that n-a takes one volume
// of.
const twoZones = `
apiVersion: v1
kind: Node
metadata: {name: n-a, labels: {kubernetes.io/hostname: n-a, topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: n-b, labels: {kubernetes.io/hostname: n-b, topology.kubernetes.io/zone: b}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: now}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: Immediate
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: there}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: made}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}]
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: csi.example.com}
spec: {storageCapacity: true}
---
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {name: cap, namespace: default}
storageClassName: made
nodeTopology: {matchLabels: {topology.kubernetes.io/zone: b}}
capacity: 10Gi
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n-a}
spec: {drivers: [{name: csi.example.com, nodeID: x, allocatable: {count: 1}}]}
`

// bound is a claim and its volume, claim is one without; all of the rest is in the form.
const (
	boundForm = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %[1]s, namespace: default, uid: %[1]s, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {volumeName: v-%[1]s, storageClassName: there, accessModes: [%[2]s], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v-%[1]s, labels: {%[3]s}}
spec: {storageClassName: there, capacity: {storage: 1Gi}, csi: {driver: csi.example.com, volumeHandle: h-%[1]s}, claimRef: {namespace: default, name: %[1]s, uid: %[1]s}}
`
	claimForm = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %s, namespace: default}
spec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: %s}}}
`
	volumeForm = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: %s}
spec:
  storageClassName: there
  accessModes: [ReadWriteOnce]
  capacity: {storage: %s}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%s]}]}]}}
status: {phase: Available}
`
)

func objects(t *testing.T, documents ...string) (all []runtime.Object) {
	t.Helper()
	for _, document := range strings.Split(strings.Join(documents, "\n---\n"), "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(document), nil, nil)
		if err != nil {
			t.Fatalf("%v in %s", err, document)
		}
		all = append(all, object)
	}
	return all
}

func podWith(name, node string, priority int32, claims ...string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "default", name, types.UID("uid-"+name)
	pod.Spec.SchedulerName = corev1.DefaultSchedulerName
	pod.Spec.NodeName, pod.Spec.Priority = node, &priority
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "app:1"}}
	for _, claim := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}
	return pod
}

// TestVolumes holds verdicts and words against upstream's.
func TestVolumes(t *testing.T) {
	t.Parallel()
	bound := func(name, mode, labels string) string { return fmt.Sprintf(boundForm, name, mode, labels) }
	claim := func(name, class, size string) string { return fmt.Sprintf(claimForm, name, class, size) }
	volume := func(name, size, node string) string { return fmt.Sprintf(volumeForm, name, size, node) }
	const none = "0/2 nodes are available: "
	const unhelpful = " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	for name, c := range map[string]struct {
		storage []string
		claims  []string
		others  []*corev1.Pod
		want    string
	}{
		"no volumes":           {nil, nil, nil, "n-a n-b"},
		"no such claim":        {nil, []string{"x"}, nil, none + `persistentvolumeclaim "x" not found. not found`},
		"bound at once":        {[]string{claim("c", "now", "1Gi")}, []string{"c"}, nil, none + "pod has unbound immediate PersistentVolumeClaims. not found"},
		"a free volume":        {[]string{claim("c", "there", "1Gi"), volume("v", "2Gi", "n-b")}, []string{"c"}, nil, "n-b"},
		"too small a volume":   {[]string{claim("c", "there", "3Gi"), volume("v", "2Gi", "n-b")}, []string{"c"}, nil, none + "2 node(s) didn't find available persistent volumes to bind." + unhelpful},
		"one volume for two":   {[]string{claim("c", "there", "1Gi"), claim("d", "there", "1Gi"), volume("v", "2Gi", "n-b")}, []string{"c", "d"}, nil, none + "2 node(s) didn't find available persistent volumes to bind." + unhelpful},
		"the emptier volume":   {[]string{claim("c", "there", "1Gi"), volume("v", "2Gi", "n-a"), volume("w", "9Gi", "n-b")}, []string{"c"}, nil, "n-b"},
		"one to be made":       {[]string{claim("c", "made", "1Gi")}, []string{"c"}, nil, "n-b"},
		"no capacity":          {[]string{claim("c", "made", "11Gi")}, []string{"c"}, nil, none + "1 node(s) did not have enough free storage, 1 node(s) didn't find available persistent volumes to bind." + unhelpful},
		"the volume's zone":    {[]string{bound("c", "ReadWriteOnce", "topology.kubernetes.io/zone: b")}, []string{"c"}, nil, "n-b"},
		"one of its zones":     {[]string{bound("c", "ReadWriteOnce", "failure-domain.beta.kubernetes.io/zone: a__c")}, []string{"c"}, nil, "n-a"},
		"no node in the zone":  {[]string{bound("c", "ReadWriteOnce", "topology.kubernetes.io/zone: z")}, []string{"c"}, nil, none + "2 node(s) had no available volume zone." + unhelpful},
		"a limit is reached":   {[]string{bound("c", "ReadWriteOnce", ""), bound("d", "ReadWriteOnce", "")}, []string{"c"}, []*corev1.Pod{podWith("o", "n-a", 0, "d")}, "n-b"},
		"a volume counts once": {[]string{bound("c", "ReadWriteOnce", "topology.kubernetes.io/zone: a")}, []string{"c"}, []*corev1.Pod{podWith("o", "n-a", 0, "c")}, "n-a"},
		"for one pod alone": {[]string{bound("c", "ReadWriteOncePod", "")}, []string{"c"}, []*corev1.Pod{podWith("o", "n-a", 10, "c")}, none +
			"2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod. " +
			"preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."},
		"for the more urgent alone": {[]string{bound("c", "ReadWriteOncePod", "")}, []string{"c"}, []*corev1.Pod{podWith("o", "n-a", 0, "c")}, none +
			"2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod. " +
			"preemption: found a potential placement for pod on node n-a, preempting 1 victims"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := objects(t, append([]string{twoZones}, c.storage...)...)
			for _, other := range c.others {
				all = append(all, other)
			}
			incoming := podWith("new", "", 10, c.claims...)
			verdict, err := scheduler.Judge(nil, all, incoming)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(verdict.Nodes, " ") + verdict.Message; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
