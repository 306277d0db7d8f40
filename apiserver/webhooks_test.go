package apiserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver"
)

// hooks serves webhooks; what they answer depends on the path.
func hooks(t *testing.T, done <-chan struct{}) (server *httptest.Server, authority []byte) {
	t.Helper()
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := &admissionv1.AdmissionReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			t.Error(err)
		}
		answer := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		patch := func(p string) { answer.Patch, answer.PatchType = []byte(p), ptr.To(admissionv1.PatchTypeJSONPatch) }
		deny := func(text string) { answer.Allowed, answer.Result = false, &metav1.Status{Message: text, Code: 418} }
		switch r.URL.Path {
		case "/deny":
			deny("no")
		case "/echo":
			deny(strings.Join([]string{string(review.Request.Operation), review.Request.Kind.Kind, review.Request.SubResource, review.Request.UserInfo.Username, strconv.FormatBool(*review.Request.DryRun)}, " "))
		case "/warn":
			answer.Warnings = []string{"beware"}
		case "/fail":
			w.WriteHeader(http.StatusInternalServerError)
			return
		case "/slow":
			select {
			case <-r.Context().Done():
			case <-done:
			}
			return
		case "/one":
			value := "alone"
			if strings.Contains(string(review.Request.Object.Raw), `"two"`) {
				value = "saw two"
			}
			patch(`[{"op":"add","path":"/data/one","value":"` + value + `"}]`)
		case "/two":
			patch(`[{"op":"add","path":"/data/two","value":"2"}]`)
		}
		review.Request, review.Response = nil, answer
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// selfSigned makes a certificate for the loopback address and the Service "hooks".
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"hooks.default.svc"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// hookFor makes a webhook for ConfigMaps that bear its label.
func hookFor(name, url string, authority []byte, change ...func(*registrationv1.MutatingWebhook)) registrationv1.MutatingWebhook {
	h := registrationv1.MutatingWebhook{Name: name + ".example.com", SideEffects: ptr.To(registrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		ClientConfig:   registrationv1.WebhookClientConfig{URL: &url, CABundle: authority},
		ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"hook": name}}}
	h.Rules = append(h.Rules, rulesFor("", "configmaps").ResourceRules[0].RuleWithOperations)
	for _, f := range change {
		f(&h)
	}
	return h
}

func validatingHook(h registrationv1.MutatingWebhook) registrationv1.ValidatingWebhook {
	return registrationv1.ValidatingWebhook{Name: h.Name, SideEffects: h.SideEffects, AdmissionReviewVersions: h.AdmissionReviewVersions, ClientConfig: h.ClientConfig,
		ObjectSelector: h.ObjectSelector, Rules: h.Rules, FailurePolicy: h.FailurePolicy, TimeoutSeconds: h.TimeoutSeconds, MatchConditions: h.MatchConditions}
}

func TestValidatingWebhooks(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	done := make(chan struct{})
	server, authority := hooks(t, done)
	t.Cleanup(func() { close(done) })
	type hook = registrationv1.MutatingWebhook
	ignore := func(h *hook) { h.FailurePolicy = ptr.To(registrationv1.Ignore) }
	soon := func(h *hook) { h.TimeoutSeconds = ptr.To[int32](1) }
	if_ := func(e string) func(*hook) {
		return func(h *hook) { h.MatchConditions = []registrationv1.MatchCondition{{Name: "c", Expression: e}} }
	}
	configuration := &registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
	for _, h := range []hook{
		hookFor("deny", server.URL+"/deny", authority), hookFor("echo", server.URL+"/echo", authority), hookFor("warn", server.URL+"/warn", authority),
		hookFor("fail", server.URL+"/fail", authority), hookFor("ignored", server.URL+"/fail", authority, ignore),
		hookFor("slow", server.URL+"/slow", authority, soon), hookFor("patient", server.URL+"/slow", authority, soon, ignore),
		hookFor("stranger", server.URL+"/deny", nil), hookFor("conditional", server.URL+"/deny", authority, if_("object.data.a == 'b'")),
		hookFor("broken", server.URL+"/deny", authority, if_("object.data.none == 'b'")), hookFor("lenient", server.URL+"/deny", authority, ignore, if_("object.data.none == 'b'")),
	} {
		configuration.Webhooks = append(configuration.Webhooks, validatingHook(h))
	}
	// One for everything: it is never asked about what configures it.
	all := validatingHook(hookFor("all", server.URL+"/deny", authority))
	all.ObjectSelector, all.Rules[0].APIGroups, all.Rules[0].Resources = nil, []string{"admissionregistration.k8s.io", "authorization.k8s.io"}, []string{"*/*"}
	configuration.Webhooks = append(configuration.Webhooks, all)
	if _, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		hook, data, query string
		code              int
		text              string
	}{
		{"none", "", "", 201, ""},
		{"deny", "", "", 418, `admission webhook \"deny.example.com\" denied the request: no`},
		{"echo", "", "", 418, "CREATE ConfigMap  admin false"},
		{"echo", "", "?dryRun=All", 418, "CREATE ConfigMap  admin true"},
		{"warn", "", "", 201, ""},
		{"fail", "", "", 500, `failed calling webhook \"fail.example.com\": failed to call webhook: an error on the server`},
		{"ignored", "", "", 201, ""},
		{"slow", "", "", 500, "/slow?timeout=1s\\\": context deadline exceeded"},
		{"patient", "", "", 201, ""},
		{"stranger", "", "", 500, "certificate signed by unknown authority"},
		{"conditional", `"a":"b"`, "", 418, ""},
		{"conditional", `"a":"c"`, "", 201, ""},
		{"broken", "", "", 403, "resulted in error: no such key: data"},
		{"lenient", "", "", 201, ""},
	} {
		code, head, body := call(t, s, "POST", mapsPath+x.query, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"m-","labels":{"hook":"`+x.hook+`"}},"data":{`+x.data+`}}`)
		if code != x.code || !strings.Contains(body, x.text) {
			t.Errorf("%s: %d %s", x.hook, code, body)
		}
		if x.hook == "warn" && !strings.Contains(head.Get("Warning"), "beware") {
			t.Errorf("no warning: %v", head)
		}
	}
	if err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "v", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestMutatingWebhooks(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	server, authority := hooks(t, nil)
	same := func(h *registrationv1.MutatingWebhook) { h.ObjectSelector.MatchLabels["hook"] = "both" }
	again := func(h *registrationv1.MutatingWebhook) {
		h.ReinvocationPolicy = ptr.To(registrationv1.IfNeededReinvocationPolicy)
	}
	configuration := &registrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Webhooks: []registrationv1.MutatingWebhook{
		hookFor("one", server.URL+"/one", authority), hookFor("one-again", server.URL+"/one", authority, same, again), hookFor("two", server.URL+"/two", authority, same),
	}}
	if _, err := c.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for hook, want := range map[string]string{"one": `"data":{"a":"b","one":"alone"}`, "both": `"data":{"a":"b","one":"saw two","two":"2"}`} {
		code, _, body := call(t, s, "POST", mapsPath, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+hook+`","labels":{"hook":"`+hook+`"}},"data":{"a":"b"}}`)
		if code != 201 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", hook, code, body)
		}
	}
}

// TestWebhookBehindService: an endpoint of the Service is dialled; the certificate is for the Service's name.
func TestWebhookBehindService(t *testing.T) {
	t.Parallel()
	server, authority := hooks(t, nil)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	dialled := make(chan string, 1)
	s, stop := startAt(t, t.TempDir(), func(o *apiserver.Options) {
		o.PodDial = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled <- address
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		}
	})
	t.Cleanup(stop)
	c := client(t, s, "application/json")
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "hooks"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443}}}}
	if _, err := c.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	h := hookFor("service", "", authority)
	h.ClientConfig.URL, h.ClientConfig.Service = nil, &registrationv1.ServiceReference{Namespace: "default", Name: "hooks", Path: ptr.To("/deny")}
	configuration := &registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Webhooks: []registrationv1.ValidatingWebhook{validatingHook(h)}}
	if _, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"hook":"service"}}}`
	if code, _, got := call(t, s, "POST", mapsPath, "application/json", body); code != 500 || !strings.Contains(got, `hooks.default.svc:443/deny?timeout=10s\": no endpoints available for service \"hooks\"`) {
		t.Errorf("%d %s", code, got)
	}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "hooks-1", Labels: map[string]string{discoveryv1.LabelServiceName: "hooks"}}, AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To(int32(number))}}, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.1.2.3"}}}}
	if _, err := c.DiscoveryV1().EndpointSlices("default").Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if code, _, got := call(t, s, "POST", mapsPath, "application/json", body); code != 418 {
		t.Errorf("%d %s", code, got)
	}
	if got := <-dialled; got != "10.1.2.3:"+port {
		t.Errorf("dialled %s", got)
	}
}
