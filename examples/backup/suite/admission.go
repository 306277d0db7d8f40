package suite

import (
	"context"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
	"github.com/kogge-dev/kogge/examples/backup/webhooks"
)

// Backup is one of a claim, which is to be created.
func Backup(namespace, name string) *v1.Backup {
	return &v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1.BackupSpec{Claim: "data"}}
}

// defaults come from the webhook.
func defaults(t *testing.T, s *Suite) {
	b := Backup(s.Namespace(t), "plain")
	if err := s.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if b.Spec.Schedule != webhooks.DefaultSchedule || ptr.Deref(b.Spec.Keep, 0) != webhooks.DefaultKeep {
		t.Errorf("%+v", b.Spec)
	}
}

// refusals come from the schema and the webhook.
func refusals(t *testing.T, s *Suite) {
	namespace := s.Namespace(t)
	for want, change := range map[string]func(*v1.Backup){
		`spec.schedule: Invalid value: "now and then"`: func(b *v1.Backup) { b.Spec.Schedule = "now and then" },
		"spec.claim": func(b *v1.Backup) { b.Spec.Claim = "" },
		"spec.keep":  func(b *v1.Backup) { b.Spec.Keep = ptr.To[int32](0) },
	} {
		b := Backup(namespace, "bad")
		change(b)
		if err := s.Create(t.Context(), b); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	b := Backup(namespace, "good")
	if err := s.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	change := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"claim":"other"}}`))
	if err := s.Patch(t.Context(), b, change); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "can't be changed") {
		t.Errorf("another claim: %v", err)
	}
}

// heard are the warnings that a client got.
type heard struct {
	mu   sync.Mutex
	text []string
}

func (h *heard) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if code == 299 {
		h.text = append(h.text, text)
	}
}

// warnings of the webhook reach the client.
func warnings(t *testing.T, s *Suite) {
	h := &heard{}
	config := rest.CopyConfig(s.config)
	config.WarningHandlerWithContext = h
	c, err := client.New(config, client.Options{Scheme: s.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	b := Backup(s.Namespace(t), "greedy")
	b.Spec.Keep = ptr.To[int32](1000)
	if err := c.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.text) != 1 || !strings.Contains(h.text[0], "1000 copies") {
		t.Errorf("heard %q", h.text)
	}
}
