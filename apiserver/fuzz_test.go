package apiserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// fuzzed are endpoints with an object each that they take.
var fuzzed = []struct{ path, name, object string }{
	{"/api/v1/namespaces/default/configmaps", "c", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"a":"b"}},"data":{"k":"v"},"binaryData":{"b":"AAE="}}`},
	{"/api/v1/namespaces/default/pods", "p", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":{"a":"b"}},"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}],"containers":[{"name":"c","image":"i","env":[{"name":"E","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],"ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"1m"}},"livenessProbe":{"httpGet":{"port":"http","path":"/"}},"volumeMounts":[{"name":"v","mountPath":"/v"}]}],"tolerations":[{"operator":"Exists"}]}}`},
	{"/api/v1/namespaces/default/services", "s", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"clusterIP":"None","selector":{"a":"b"},"ports":[{"port":80,"targetPort":"http"}]}}`},
	{"/apis/apps/v1/namespaces/default/deployments", "d", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2,"strategy":{"rollingUpdate":{"maxSurge":"25%"}},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`},
	{"/apis/batch/v1/namespaces/default/cronjobs", "j", `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"j"},"spec":{"schedule":"*/5 1-3 * * MON","timeZone":"Etc/UTC","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`},
	{"/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", "h", `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]}}`},
	{"/apis/networking.k8s.io/v1/namespaces/default/ingresses", "i", `{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"i"},"spec":{"rules":[{"host":"*.a.b","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}}`},
	{"/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", "n", `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"n"},"spec":{"podSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]},"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}]}]}}`},
	{"/api/v1/namespaces/default/events", "e", `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"involvedObject":{"namespace":"default","kind":"Pod","name":"p"},"reason":"r","message":"m","firstTimestamp":"2026-01-01T00:00:00Z"}`},
	{"/apis/rbac.authorization.k8s.io/v1/clusterroles", "r", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`},
	{definitions, "widgets.shop.example.com", widget},
	{"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "v", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"v"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["x"]}]},"variables":[{"name":"n","expression":"object.metadata.name"}],"validations":[{"expression":"variables.n.startsWith('a') && object.spec.x.all(y, y > 1)","messageExpression":"'no ' + variables.n"}]}}`},
	{"/apis/authentication.k8s.io/v1/tokenreviews", "", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2t1YmVybmV0ZXMuZGVmYXVsdCJ9.AAAA"}}`},
	{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods","fieldSelector":{"rawSelector":"a=b"}}}}`},
}

// media are the formats of bodies.
var media = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}

// encodings gives an object in each of the formats.
func encodings(f *testing.F, object string) [][]byte {
	f.Helper()
	inYAML, err := yaml.JSONToYAML([]byte(object))
	if err != nil {
		f.Fatal(err)
	}
	out := [][]byte{[]byte(object), inYAML}
	if obj, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(object), nil, nil); err == nil {
		message, err := runtime.Encode(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), obj)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, message)
	}
	return out
}

// FuzzCreate sends bodies of all formats to endpoints of all tempers. Nothing is stored.
func FuzzCreate(f *testing.F) {
	for i, e := range fuzzed {
		for m, body := range encodings(f, e.object) {
			f.Add(uint8(i), uint8(m), body)
		}
	}
	f.Add(uint8(0), uint8(1), []byte("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n"))
	f.Add(uint8(0), uint8(0), []byte(strings.Repeat(`{"a":[`, 100)))
	s := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, endpoint, m uint8, body []byte) {
		e := fuzzed[int(endpoint)%len(fuzzed)]
		kind := media[int(m)%len(media)]
		code, answer := s.try(t, http.MethodPost, e.path+"?dryRun=All&fieldValidation=Strict", kind, body)
		if code != http.StatusCreated {
			return
		}
		// What was accepted is accepted again, as it came back but for its version.
		var object map[string]any
		if err := json.Unmarshal(answer, &object); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		again, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if code, second := s.try(t, http.MethodPost, e.path+"?dryRun=All", media[0], again); code != http.StatusCreated {
			t.Errorf("%s\nwas accepted; what came back was not: %d %s", answer, code, second)
		}
	})
}

// patches are the media types of patches, with a seed each.
var patches = []struct{ kind, seed string }{
	{"application/json-patch+json", `[{"op":"test","path":"/metadata/name","value":"c"},{"op":"add","path":"/metadata/labels","value":{"x":"y"}},{"op":"move","from":"/metadata/labels/x","path":"/metadata/labels/z"},{"op":"copy","from":"/metadata/labels","path":"/metadata/annotations"},{"op":"remove","path":"/metadata/labels"}]`},
	{"application/merge-patch+json", `{"metadata":{"labels":{"a":null,"b":"c"}},"spec":{"replicas":3}}`},
	{"application/strategic-merge-patch+json", `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"$patch":"delete","name":"c"},{"name":"d","$retainKeys":["image"],"image":"i"}]}}}}`},
	{"application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"x":"y"}},"data":{"k":"w"}}`},
}

// FuzzPatch patches objects of all tempers in every way. Nothing is stored.
func FuzzPatch(f *testing.F) {
	for i := range fuzzed {
		for p := range patches {
			f.Add(uint8(i), uint8(p), []byte(patches[p].seed))
		}
		f.Add(uint8(i), uint8(3), []byte(fuzzed[i].object))
	}
	s := newFuzzServer(f)
	for _, e := range fuzzed {
		if e.name != "" {
			s.prepare(f, e.path, e.object)
		}
	}
	f.Fuzz(func(t *testing.T, endpoint, kind uint8, body []byte) {
		e, p := fuzzed[int(endpoint)%len(fuzzed)], patches[int(kind)%len(patches)]
		s.try(t, http.MethodPatch, e.path+"/"+e.name+"?dryRun=All&force=true&fieldManager=f", p.kind, body)
	})
}

// FuzzQuery lists and reads with every query, selectors and tokens among them.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{
		"labelSelector=a%3Db%2Cc+in+(d%2Ce)%2C!f&limit=1", "fieldSelector=metadata.name%3Dc%2Cspec.nodeName!%3Dn", "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiZGVmYXVsdC9jIn0",
		"resourceVersion=1&resourceVersionMatch=Exact", "includeObject=Metadata", "pretty=1&export=x&timeoutSeconds=-1", "sendInitialEvents=true", "limit=9999999999999999999",
	} {
		f.Add(q)
	}
	s := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, query string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		if v, err := strconv.ParseUint(q.Get("resourceVersion"), 10, 64); err == nil && v > 1 {
			q.Set("resourceVersion", "1") // one that will come is waited for
		}
		for _, name := range []string{"watch", "follow"} {
			q.Del(name)
		}
		for _, e := range fuzzed[:2] {
			s.try(t, http.MethodGet, e.path+"?"+q.Encode(), "", nil)
			s.try(t, http.MethodGet, e.path+"/x?"+q.Encode(), "", nil)
		}
	})
}

// FuzzSelectors lists by selectors alone, which are then well-formed more often.
func FuzzSelectors(f *testing.F) {
	f.Add("a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2", "metadata.name=c,metadata.namespace!=d")
	f.Add("a==b", `metadata.name=a\,b\=c\\`)
	s := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, labels, fields string) {
		q := url.Values{"labelSelector": {labels}, "fieldSelector": {fields}}
		s.try(t, http.MethodGet, fuzzed[1].path+"?"+q.Encode(), "", nil)
		q.Set("dryRun", "All")
		s.try(t, http.MethodDelete, fuzzed[0].path+"?"+q.Encode(), "", nil)
	})
}

// FuzzDelete sends options of deletions, for an object that is not there.
func FuzzDelete(f *testing.F) {
	f.Add(uint8(0), []byte(`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,"preconditions":{"uid":"u","resourceVersion":"1"},"propagationPolicy":"Foreground","dryRun":["All"]}`), "")
	f.Add(uint8(1), []byte("apiVersion: v1\nkind: DeleteOptions\norphanDependents: true\n"), "gracePeriodSeconds=0&propagationPolicy=Orphan")
	s := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, m uint8, body []byte, query string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		for _, e := range fuzzed[:2] {
			s.try(t, http.MethodDelete, e.path+"/x?"+q.Encode(), media[int(m)%len(media)], body)
		}
	})
}

// FuzzHeaders asks for answers in every form.
func FuzzHeaders(f *testing.F) {
	f.Add("application/json;as=Table;v=v1;g=meta.k8s.io,application/json;q=0.5,*/*", "application/json; charset=utf-8", "gzip;q=1, identity")
	f.Add("application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "a/b;c=", "")
	s := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, accept, contentType, encoding string) {
		for _, path := range []string{fuzzed[1].path, fuzzed[0].path + "/x", "/openapi/v2", "/apis"} {
			code, answer, err := s.sendWith(http.MethodGet, path, http.Header{"Accept": {accept}, "Content-Type": {contentType}, "Accept-Encoding": {encoding}}, nil)
			if err != nil || code >= http.StatusInternalServerError {
				t.Errorf("%s: %d %s %v", path, code, answer, err)
			}
		}
	})
}

// FuzzPath asks for every path with every method that changes nothing.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"/api/v1/namespaces/../pods", "/apis/apps/v1/namespaces/a%2fb/deployments/c/status", "/api/v1/watch/pods?timeoutSeconds=1", "/openapi/v3/apis/apps/v1?hash=x", "/api/v1/namespaces/default/pods/p/log"} {
		f.Add(p)
	}
	s := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, path string) {
		if !strings.HasPrefix(path, "/") || strings.Contains(path, "watch") || strings.Contains(path, "resourceVersion") {
			return
		}
		s.try(t, http.MethodGet, path, "", nil)
		s.try(t, http.MethodHead, path, "", nil)
	})
}

// FuzzDefinition judges the schemas of definitions.
func FuzzDefinition(f *testing.F) {
	at := strings.Index(widget, `{"openAPIV3Schema":`)
	begin := at + len(`{"openAPIV3Schema":`)
	end := strings.Index(widget, `}},"v1beta1"`)
	if end < 0 {
		end = strings.Index(widget, `}},
 {"name":"v1beta1"`)
	}
	f.Add([]byte(widget[begin:end]))
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"array","maxItems":3,"x-kubernetes-list-type":"set","items":{"type":"string","pattern":"^a*$","format":"date"}},"b":{"type":"object","additionalProperties":{"type":"integer"},"x-kubernetes-map-type":"atomic"}},"x-kubernetes-validations":[{"rule":"self.a.exists(x, x == 'b')","optionalOldSelf":true}]}`))
	s := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, schema []byte) {
		if !json.Valid(schema) {
			return
		}
		body := widget[:begin] + string(schema) + widget[end:]
		s.try(t, http.MethodPost, definitions+"?dryRun=All", media[0], []byte(body))
	})
}

// FuzzRule compiles expressions of definitions and policies.
func FuzzRule(f *testing.F) {
	for _, rule := range []string{"self.size <= 9", "!has(oldSelf.owner) || self.owner == oldSelf.owner", "self.names.all(n, n.matches('^a+$'))", "quantity('1k').isGreaterThan(quantity('1'))", "cidr('10.0.0.0/8').containsIP('10.1.1.1')", "[1,2].map(x, x*x).sum() > duration('1s').getSeconds()"} {
		f.Add(rule)
	}
	s := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, rule string) {
		text, err := json.Marshal(rule)
		if err != nil {
			return
		}
		s.try(t, http.MethodPost, definitions+"?dryRun=All", media[0], []byte(strings.Replace(widget, `"self.size <= 9"`, string(text), 1)))
		policy := fuzzed[11]
		s.try(t, http.MethodPost, policy.path+"?dryRun=All", media[0], []byte(strings.Replace(policy.object, `"object.metadata.name"`, string(text), 1)))
	})
}

// FuzzCustom sends custom resources.
func FuzzCustom(f *testing.F) {
	f.Add(uint8(0), []byte(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":3,"color":"blue","names":["a"],"port":"x","parts":[{"name":"p","n":1}],"open":{"a":[{"b":null}]},"both":null},"status":{"size":1}}`))
	f.Add(uint8(1), []byte("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 1e3, port: 0x10}\n"))
	s := newFuzzServer(f)
	s.prepare(f, definitions, widget)
	for code := 0; code != http.StatusOK; {
		code, _, _ = s.send(http.MethodGet, widgets, "", nil)
	}
	s.prepare(f, widgets, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"there"},"spec":{}}`)
	f.Fuzz(func(t *testing.T, m uint8, body []byte) {
		s.try(t, http.MethodPost, widgets+"?dryRun=All", media[int(m)%2], body)
		p := patches[int(m/2)%len(patches)]
		s.try(t, http.MethodPatch, widgets+"/there?dryRun=All&force=true&fieldManager=f", p.kind, body)
	})
}
