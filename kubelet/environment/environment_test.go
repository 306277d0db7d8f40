package environment

import (
	"context"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/kubelet/downward"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	lookup := lookupIn([]Variable{{"A", "1"}, {"EMPTY", ""}})
	for text, want := range map[string]string{
		"plain": "plain", "$(A)": "1", "$(A)$(A)": "11", "$(B)": "$(B)", "$$(A)": "$(A)", "$$$(A)": "$1", "$(A": "$(A",
		"$": "$", "a$": "a$", "$A": "$A", "$(EMPTY)": "", "$()": "$()", "$$": "$", "x$(A)y$(B)z": "x1y$(B)z",
	} {
		if got := Expand(text, lookup); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSubPath(t *testing.T) {
	t.Parallel()
	variables := []Variable{{"A", "a"}, {"EMPTY", ""}}
	if got, err := SubPath("$(A)/x", variables); err != nil || got != "a/x" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := SubPath("$(NONE)/$(EMPTY)", variables); err == nil || err.Error() != "missing value for EMPTY, NONE" {
		t.Errorf("err = %v", err)
	}
}

func sources() Sources {
	missing := func(kind, name string) error {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, name)
	}
	return Sources{
		ConfigMap: func(_ context.Context, _, name string) (*v1.ConfigMap, error) {
			if name != "map" {
				return nil, missing("configmap", name)
			}
			return &v1.ConfigMap{Data: map[string]string{"x": "mx", "a": "ma"}}, nil
		},
		Secret: func(_ context.Context, _, name string) (*v1.Secret, error) {
			return nil, missing("secret", name)
		},
		Services: []*v1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "my-db"}, Spec: v1.ServiceSpec{ClusterIP: "10.0.0.1", Ports: []v1.ServicePort{{Name: "sql", Port: 5432}}}}},
		Facts:    downward.Facts{PodIPs: []string{"10.1.1.1"}},
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n"}}
	isOptional := true
	container := &v1.Container{
		EnvFrom: []v1.EnvFromSource{
			{Prefix: "P_", ConfigMapRef: &v1.ConfigMapEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: "map"}}},
			{SecretRef: &v1.SecretEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: "none"}, Optional: &isOptional}},
		},
		Env: []v1.EnvVar{
			{Name: "FIRST", Value: "$(P_a)-$(LATER)-$(MY_DB_SERVICE_HOST)"},
			{Name: "LATER", Value: "l"},
			{Name: "NAME", ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "KEY", ValueFrom: &v1.EnvVarSource{ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: "map"}, Key: "x"}}},
			{Name: "GONE", ValueFrom: &v1.EnvVarSource{ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: "map"}, Key: "y", Optional: &isOptional}}},
			{Name: "P_x", Value: "own"},
			{Name: "MY_DB_SERVICE_PORT", Value: "mine"},
		},
	}
	got, err := Build(t.Context(), pod, container, sources())
	if err != nil {
		t.Fatal(err)
	}
	want := []Variable{
		{"P_a", "ma"}, {"P_x", "own"}, {"FIRST", "ma-$(LATER)-10.0.0.1"}, {"LATER", "l"}, {"NAME", "p"}, {"KEY", "mx"}, {"MY_DB_SERVICE_PORT", "mine"},
		{"MY_DB_SERVICE_HOST", "10.0.0.1"}, {"MY_DB_SERVICE_PORT_SQL", "5432"}, {"MY_DB_PORT", "tcp://10.0.0.1:5432"},
		{"MY_DB_PORT_5432_TCP", "tcp://10.0.0.1:5432"}, {"MY_DB_PORT_5432_TCP_PROTO", "tcp"}, {"MY_DB_PORT_5432_TCP_PORT", "5432"}, {"MY_DB_PORT_5432_TCP_ADDR", "10.0.0.1"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestBuildSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n"}}
	for want, source := range map[string]*v1.EnvVarSource{
		`configmap "none" not found`:             {ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: "none"}, Key: "k"}},
		`secret "none" not found`:                {SecretKeyRef: &v1.SecretKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: "none"}, Key: "k"}},
		"couldn't find key k in ConfigMap n/map": {ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: "map"}, Key: "k"}},
		"container other not found":              {ResourceFieldRef: &v1.ResourceFieldSelector{ContainerName: "other", Resource: "limits.cpu"}},
		"unsupported fieldPath: status.phase":    {FieldRef: &v1.ObjectFieldSelector{FieldPath: "status.phase"}},
	} {
		container := &v1.Container{Env: []v1.EnvVar{{Name: "A", ValueFrom: source}}}
		if _, err := Build(t.Context(), pod, container, sources()); err == nil || err.Error() != want {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}

func TestServices(t *testing.T) {
	t.Parallel()
	service := func(namespace, name, ip string) *v1.Service {
		return &v1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1.ServiceSpec{ClusterIP: ip}}
	}
	all := []*v1.Service{service("default", "kubernetes", "1"), service("default", "web", "2"), service("n", "own", "3"), service("n", "headless", "None")}
	for links, want := range map[bool][]string{true: {"kubernetes", "own"}, false: {"kubernetes"}} {
		var got []string
		for _, s := range Services(all, "n", links) {
			got = append(got, s.Name)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("links %v: %v, want %v", links, got, want)
		}
	}
}
