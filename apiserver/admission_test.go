package apiserver_test

import (
	"net/http"
	"strings"
	"testing"
)

// admissionStep is a request and what its answer holds.
type admissionStep struct {
	method, path, body string
	code               int
	want               []string
}

// ns is where the steps of a test happen; system classes are there from the start.
const ns = "/api/v1/namespaces/default/"

// pod makes a pod with what its spec has besides the one container, and that container's resources.
func pod(name, spec, resources string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"},"spec":{` + spec + `"containers":[{"name":"c","image":"i","resources":` + resources + `}]}}`
}

func TestAdmissionPlugins(t *testing.T) {
	t.Parallel()
	const account = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}}`
	tests := map[string][]admissionStep{
		"LimitRanger": {
			{"POST", ns + "limitranges", `{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","default":{"cpu":"200m"},"defaultRequest":{"cpu":"100m"},"max":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"4"}}]}}`, 201, nil},
			{"POST", ns + "pods", pod("filled", "", `{}`), 201, []string{`"limits":{"cpu":"200m"},"requests":{"cpu":"100m"}`,
				`"kubernetes.io/limit-ranger":"LimitRanger plugin set: cpu request for container c; cpu limit for container c"`}},
			{"POST", ns + "pods", pod("large", "", `{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}`), 403,
				[]string{`pods \"large\" is forbidden: maximum cpu usage per Container is 1, but limit is 2`}},
			{"POST", ns + "pods", pod("steep", "", `{"limits":{"cpu":"1"},"requests":{"cpu":"100m"}}`), 403,
				[]string{`cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000`}},
		},
		"Priority": {
			{"POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"high"},"value":1000,"preemptionPolicy":"Never","description":""}`, 201, nil},
			{"POST", ns + "pods", pod("high", `"priorityClassName":"high",`, `{}`), 201, []string{`"priority":1000`, `"preemptionPolicy":"Never"`}},
			{"POST", ns + "pods", pod("none", "", `{}`), 201, []string{`"priority":0`, `"preemptionPolicy":"PreemptLowerPriority"`}},
			{"POST", ns + "pods", pod("lost", `"priorityClassName":"lost",`, `{}`), 403, []string{`pods \"lost\" is forbidden: no PriorityClass with name lost was found`}},
			{"POST", ns + "pods", pod("own", `"priority":7,`, `{}`), 403, []string{`the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`}},
			{"POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"first"},"value":5,"globalDefault":true}`, 201, nil},
			{"POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"second"},"value":6,"globalDefault":true}`, 403,
				[]string{`priorityclasses.scheduling.k8s.io \"second\" is forbidden: PriorityClass first is already marked as default. Only one default can exist`}},
			{"POST", ns + "pods", pod("default", "", `{}`), 201, []string{`"priorityClassName":"first"`, `"priority":5`}},
		},
		"RuntimeClass": {
			{"POST", "/apis/node.k8s.io/v1/runtimeclasses", `{"metadata":{"name":"r"},"handler":"h","overhead":{"podFixed":{"cpu":"10m"}},"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"k","operator":"Exists"}]}}`, 201, nil},
			{"POST", ns + "pods", pod("p", `"runtimeClassName":"r",`, `{}`), 201, []string{`"overhead":{"cpu":"10m"}`, `"nodeSelector":{"a":"b"}`, `{"key":"k","operator":"Exists"}`}},
			{"POST", ns + "pods", pod("q", `"runtimeClassName":"r","nodeSelector":{"a":"c"},`, `{}`), 403, []string{`conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c`}},
			{"POST", ns + "pods", pod("lost", `"runtimeClassName":"lost",`, `{}`), 403, []string{`pods \"lost\" is forbidden: pod rejected: RuntimeClass \"lost\" not found`}},
			{"POST", ns + "pods", pod("over", `"overhead":{"cpu":"1"},`, `{}`), 403, []string{`pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`}},
		},
		"storage": {
			{"POST", "/apis/storage.k8s.io/v1/storageclasses", `{"metadata":{"name":"s","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p"}`, 201, nil},
			{"POST", ns + "persistentvolumeclaims", `{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`, 201,
				[]string{`"storageClassName":"s"`, `"finalizers":["kubernetes.io/pvc-protection"]`}},
			{"PATCH", ns + "persistentvolumeclaims/c", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`, 422, []string{`Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims`}},
		},
		"ingress class": {
			{"POST", "/apis/networking.k8s.io/v1/ingressclasses", `{"metadata":{"name":"i","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}},"spec":{"controller":"example.com/c"}}`, 201, nil},
			{"POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", `{"metadata":{"name":"x"},"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`, 201, []string{`"ingressClassName":"i"`}},
		},
		"topology labels": {
			{"POST", "/api/v1/nodes", `{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z"}}}`, 201, nil},
			{"POST", ns + "pods", pod("p", "", `{}`), 201, nil},
			{"POST", ns + "pods/p/binding", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`, 201, nil},
			{"GET", ns + "pods/p", "", 200, []string{`"topology.kubernetes.io/zone":"z"`}},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := start(t)
			call(t, s, "POST", ns+"serviceaccounts", "application/json", account)
			for _, step := range steps {
				contentType := "application/json"
				if step.method == http.MethodPatch {
					contentType = "application/merge-patch+json"
				}
				code, _, body := call(t, s, step.method, step.path, contentType, step.body)
				if code != step.code {
					t.Errorf("%s %s: %d, want %d: %s", step.method, step.path, code, step.code, body)
				}
				for _, want := range step.want {
					if !strings.Contains(body, want) {
						t.Errorf("%s %s: no %s in %s", step.method, step.path, want, body)
					}
				}
			}
		})
	}
}
