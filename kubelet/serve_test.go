package kubelet_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet"
	"github.com/kogge-dev/kogge/kubelet/internal/testapi"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

func TestEndedContainerCannotBeEntered(t *testing.T) {
	t.Parallel()
	api := testapi.New(t)
	runtime, err := simulated.New(simulated.Options{Behaviour: endsUnlessSidecar("7")})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kubelet.New(simulatedOptions(t, api, runtime))
	if err != nil {
		t.Fatal(err)
	}
	run(t, k)
	p := pod("ended", container("main"))
	p.Spec.RestartPolicy = v1.RestartPolicyNever
	api.Create(t.Context(), p)
	api.EventuallyPod(t.Context(), "default", "ended", func(p *v1.Pod) bool { return p != nil && p.Status.Phase == v1.PodFailed })
	for action, want := range map[string]string{
		"exec":   `container not found ("main")`,
		"attach": "container main not found in pod ended_default",
	} {
		response := httptest.NewRecorder()
		k.Handler().ServeHTTP(response, httptest.NewRequest(http.MethodPost, "/"+action+"/default/ended/main?output=1&command=ls", nil))
		if got := strings.TrimSpace(response.Body.String()); response.Code != http.StatusInternalServerError || got != want {
			t.Errorf("%s: %d %s, want %s", action, response.Code, got, want)
		}
	}
}
