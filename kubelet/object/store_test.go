package object_test

import (
	"context"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/kubelet/internal/testapi"
	"github.com/kogge-dev/kogge/kubelet/object"
)

func user(uid types.UID, configMap string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: string(uid), UID: uid},
		Spec: v1.PodSpec{Volumes: []v1.Volume{{VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{
			LocalObjectReference: v1.LocalObjectReference{Name: configMap},
		}}}}},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	api := testapi.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	changed := make(chan types.UID, 10)
	store := object.New(object.Options{Client: api.Client().CoreV1(), Changed: func(uid types.UID) { changed <- uid }})
	t.Cleanup(func() {
		cancel()
		store.Wait()
	})
	maps := api.Client().CoreV1().ConfigMaps("default")

	store.Register(ctx, user("a", "settings"))
	store.Register(ctx, user("b", "other"))
	_, err := store.ConfigMap(ctx, "default", "settings")
	if !apierrors.IsNotFound(err) || err.Error() != `configmap "settings" not found` {
		t.Errorf("err = %v", err)
	}
	made, err := maps.Create(ctx, &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"k": "1"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(value string) {
		t.Helper()
		select {
		case uid := <-changed:
			if uid != "a" {
				t.Errorf("pod %s was told", uid)
			}
		case <-ctx.Done():
			t.Fatal("no change arrived")
		}
		got, err := store.ConfigMap(ctx, "default", "settings")
		if err != nil || got.Data["k"] != value {
			t.Errorf("%v, %v; want %q", got, err, value)
		}
	}
	expect("1")
	made.Data["k"] = "2"
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("2")

	// Who is not registered is served from the API.
	store.Unregister("a")
	if got, err := store.ConfigMap(ctx, "default", "settings"); err != nil || got.Data["k"] != "2" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := store.Secret(ctx, "default", "none"); err == nil || err.Error() != `secret "none" not found` {
		t.Errorf("err = %v", err)
	}
}
