package core

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

func errorTexts(errs field.ErrorList) string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Field+": "+string(e.Type))
	}
	return strings.Join(out, "\n")
}

func size(s string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: apiresource.MustParse(s)}
}

func TestVolumes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*corev1.PersistentVolumeSpec)
		want   string
	}{
		"fine":            {func(*corev1.PersistentVolumeSpec) {}, ""},
		"no source":       {func(s *corev1.PersistentVolumeSpec) { s.HostPath = nil }, "spec: FieldValueRequired"},
		"two sources":     {func(s *corev1.PersistentVolumeSpec) { s.NFS = &corev1.NFSVolumeSource{} }, "spec.nfs: FieldValueForbidden"},
		"local, anywhere": {func(s *corev1.PersistentVolumeSpec) { s.HostPath, s.Local = nil, &corev1.LocalVolumeSource{Path: "/x"} }, "spec.nodeAffinity: FieldValueRequired"},
		"the host recycled": {func(s *corev1.PersistentVolumeSpec) {
			s.HostPath.Path, s.PersistentVolumeReclaimPolicy = "/", corev1.PersistentVolumeReclaimRecycle
		}, "spec.persistentVolumeReclaimPolicy: FieldValueForbidden"},
		"one pod and others": {func(s *corev1.PersistentVolumeSpec) { s.AccessModes = append(s.AccessModes, corev1.ReadWriteOncePod) }, "spec.accessModes: FieldValueForbidden"},
		"no size":            {func(s *corev1.PersistentVolumeSpec) { s.Capacity = nil }, "spec.capacity: FieldValueRequired\nspec.capacity: FieldValueNotSupported"},
		"a retired disk":     {func(s *corev1.PersistentVolumeSpec) { s.HostPath, s.RBD = nil, &corev1.RBDPersistentVolumeSource{} }, "spec.rbd.monitors: FieldValueRequired\nspec.rbd.image: FieldValueRequired"},
		"a disk of no format": {func(s *corev1.PersistentVolumeSpec) {
			s.HostPath, s.ISCSI = nil, &corev1.ISCSIPersistentVolumeSource{TargetPortal: "p", IQN: "x"}
		}, "spec.iscsi.iqn: FieldValueInvalid"},
		"a driver's own class": {func(s *corev1.PersistentVolumeSpec) { s.VolumeAttributesClassName = ptr.To("gold") }, "spec.csi: FieldValueRequired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := corev1.PersistentVolumeSpec{Capacity: size("1Gi"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}}
			c.change(&s)
			if got := errorTexts(validateVolumeSpec(&s, "v", specPath)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestClaimsStayButForTheirSize(t *testing.T) {
	t.Parallel()
	bound := func(want string) *corev1.PersistentVolumeClaim {
		c := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: "v",
			Resources: corev1.VolumeResourceRequirements{Requests: size(want)}}}
		c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: size("2Gi")}
		DefaultClaim(c)
		return c
	}
	for name, c := range map[string]struct {
		change func(*corev1.PersistentVolumeClaim)
		want   string
	}{
		"grown":             {func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = size("5Gi") }, ""},
		"shrunk to what is": {func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = size("2Gi") }, "spec.resources.requests.storage: FieldValueForbidden"},
		"another volume":    {func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "w" }, "spec: FieldValueForbidden"},
		"a class given":     {func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = ptr.To("fast") }, ""},
		"grown unbound": {func(c *corev1.PersistentVolumeClaim) {
			c.Status.Phase = corev1.ClaimPending
			c.Spec.Resources.Requests = size("5Gi")
		}, "spec: FieldValueForbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := bound("3Gi")
			c.change(now)
			if got := errorTexts(validateClaimUpdate(now, bound("3Gi"))); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestSourcesGoByTwoNames(t *testing.T) {
	t.Parallel()
	s := &corev1.PersistentVolumeClaimSpec{DataSourceRef: &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "a"}}
	prepareSource(s, nil)
	if s.DataSource == nil || s.DataSource.Name != "a" {
		t.Errorf("%+v", s)
	}
	s = &corev1.PersistentVolumeClaimSpec{DataSource: &corev1.TypedLocalObjectReference{Kind: "ConfigMap", Name: "a"}}
	prepareSource(s, nil)
	if s.DataSource != nil || s.DataSourceRef != nil {
		t.Errorf("a source that nobody can fill from stayed: %+v", s)
	}
}

func TestLimitRangesAreFilledAndOrdered(t *testing.T) {
	t.Parallel()
	cpu := func(s string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: apiresource.MustParse(s)}
	}
	l := &corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: cpu("2"), Min: cpu("1")}}}}
	defaultLimitRange(l)
	if it := l.Spec.Limits[0]; it.Default.Cpu().String() != "2" || it.DefaultRequest.Cpu().String() != "2" {
		t.Errorf("%+v", it)
	}
	l.Spec.Limits[0].Min = cpu("3")
	want := "spec.limits[0].min[cpu]: FieldValueInvalid\nspec.limits[0].defaultRequest[cpu]: FieldValueInvalid\nspec.limits[0].default[cpu]: FieldValueInvalid"
	if got := errorTexts(validateLimitRange(l)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	hard := func(name, q string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName(name): apiresource.MustParse(q)}
	}
	for name, c := range map[string]struct {
		spec corev1.ResourceQuotaSpec
		want string
	}{
		"fine":           {corev1.ResourceQuotaSpec{Hard: hard("pods", "5")}, ""},
		"half a pod":     {corev1.ResourceQuotaSpec{Hard: hard("pods", "1500m")}, "spec.hard[pods]: FieldValueInvalid"},
		"an own device":  {corev1.ResourceQuotaSpec{Hard: hard("requests.example.com/gpu", "1")}, ""},
		"nothing known":  {corev1.ResourceQuotaSpec{Hard: hard("nope", "1")}, "spec.hard[nope]: FieldValueInvalid\nspec.hard[nope]: FieldValueInvalid"},
		"both and":       {corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{"BestEffort", "NotBestEffort"}}, "spec.scopes: FieldValueInvalid"},
		"effort of none": {corev1.ResourceQuotaSpec{Hard: hard("services", "1"), Scopes: []corev1.ResourceQuotaScope{"BestEffort"}}, "spec.scopes: FieldValueInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := errorTexts(validateQuota(&c.spec)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
