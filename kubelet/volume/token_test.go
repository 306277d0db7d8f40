package volume_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kogge-dev/kogge/kubelet/internal/testapi"
	"github.com/kogge-dev/kogge/kubelet/volume"
)

func TestTokensAreReplacedBeforeTheyExpire(t *testing.T) {
	t.Parallel()
	began := time.Now()
	clock := testingclock.NewFakeClock(began)
	tokens := volume.NewTokenRequests(testapi.New(t).Client().CoreV1(), clock)
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u"}, Spec: v1.PodSpec{ServiceAccountName: "default"}}
	get := func(audience string) string {
		t.Helper()
		seconds := int64(1000)
		token, err := tokens.Token(t.Context(), pod, &v1.ServiceAccountTokenProjection{Audience: audience, ExpirationSeconds: &seconds})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	first := get("")
	if get("vault") == first {
		t.Error("two audiences share a token")
	}
	clock.SetTime(began.Add(790 * time.Second))
	if get("") != first {
		t.Error("the token was replaced too early")
	}
	if left := tokens.Renewal("u").Sub(began); left < 799*time.Second || left > 801*time.Second {
		t.Errorf("renewal after %v", left)
	}
	clock.SetTime(began.Add(802 * time.Second))
	if get("") == first {
		t.Error("the token was not replaced")
	}
	tokens.Forget("u")
	if !tokens.Renewal("u").IsZero() {
		t.Error("a token is remembered")
	}
}
