package status

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// transition is what happens to a pod between two statuses.
type transition struct {
	name     string
	from, to v1.PodStatus
}

// transitions are the ordinary ones.
func transitions() []transition {
	p := pod("OnFailure", "a", "b")
	p.Spec.InitContainers = []v1.Container{{Name: "i"}}
	p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "e"}}}
	minute := 0
	next := func(old *v1.PodStatus, seen ...string) v1.PodStatus {
		in := input(p, observed())
		for _, name := range seen {
			c := running(name)
			if name[0] == '-' {
				c = exited(name[1:], 0)
			}
			in.Observed.Containers = append(in.Observed.Containers, observed(c).Containers...)
		}
		minute++
		in.Old, in.Now = old, began.Add(time.Duration(minute)*time.Minute)
		return Generate(in)
	}
	changed := func(s *v1.PodStatus, change func(*v1.PodStatus)) v1.PodStatus {
		s = s.DeepCopy()
		change(s)
		return *s
	}
	created := v1.PodStatus{Phase: v1.PodPending, QOSClass: v1.PodQOSBestEffort, Conditions: []v1.PodCondition{
		{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: metav1.NewTime(began)}}}
	pending := next(&created, "i")
	up := next(&pending, "-i", "a", "b")
	down := next(&up, "-i", "-a", "-b")
	unready := changed(&up, func(s *v1.PodStatus) {
		s.Conditions[1].Status, s.Conditions[1].Reason = v1.ConditionFalse, "ContainersNotReady"
		s.ContainerStatuses[0].Ready = false
	})
	restarted := changed(&up, func(s *v1.PodStatus) {
		c := &s.ContainerStatuses[0]
		c.RestartCount, c.LastTerminationState = 1, down.ContainerStatuses[0].State
	})
	resized := changed(&up, func(s *v1.PodStatus) {
		s.AllocatedResources = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}
		s.Resources = &v1.ResourceRequirements{Requests: s.AllocatedResources}
	})
	resizedAgain := changed(&resized, func(s *v1.PodStatus) {
		s.AllocatedResources = v1.ResourceList{v1.ResourceMemory: resource.MustParse("1Gi")}
		s.Resources.Requests = s.AllocatedResources
	})
	return []transition{
		{"nothing", up, *up.DeepCopy()},
		{"pending", created, pending},
		{"pending to running", pending, up},
		{"running to succeeded", up, down},
		{"readiness", up, unready},
		{"restart", up, restarted},
		{"resize", up, resized},
		{"resize again", resized, resizedAgain},
		{"a condition less", up, changed(&up, func(s *v1.PodStatus) { s.Conditions = s.Conditions[1:] })},
		{"other order", up, changed(&up, func(s *v1.PodStatus) { s.PodIPs[0], s.PodIPs[1] = s.PodIPs[1], s.PodIPs[0] })},
		{"forgotten", up, v1.PodStatus{}},
	}
}

// What happens to every pod needs no library.
func TestPatchOfOrdinaryTransitions(t *testing.T) {
	t.Parallel()
	for _, test := range transitions() {
		if !checkPatch(t, &test.from, &test.to) {
			t.Errorf("%s: left to the library", test.name)
		}
		patch, err := Patch("uid", &test.from, &test.to)
		if err != nil || (patch == nil) != (test.name == "nothing") {
			t.Errorf("%s: patch = %s, err = %v", test.name, patch, err)
		}
	}
}

// What is the same only in JSON, or ambiguous, is left to the library.
func TestPatchLeftToLibrary(t *testing.T) {
	t.Parallel()
	twice := []v1.PodIP{{IP: "10.0.0.1"}, {IP: "10.0.0.1"}}
	amounts := func(name v1.ResourceName) []v1.ContainerStatus {
		return []v1.ContainerStatus{{AllocatedResources: v1.ResourceList{name: resource.MustParse("1")}}}
	}
	for _, test := range []transition{
		{"half a rune", v1.PodStatus{Message: "\ufffd"}, v1.PodStatus{Message: "\xc3"}},
		{"half a rune in a name", v1.PodStatus{ContainerStatuses: amounts("\xc3")}, v1.PodStatus{ContainerStatuses: amounts("\ufffd")}},
		{"twice the same", v1.PodStatus{PodIPs: twice[:1]}, v1.PodStatus{PodIPs: twice}},
	} {
		if checkPatch(t, &test.from, &test.to) {
			t.Errorf("%s: not left to the library", test.name)
		}
		want, _ := libraryPatch("uid", &test.from, &test.to)
		if got, err := Patch("uid", &test.from, &test.to); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: patch = %s, err = %v, want %s", test.name, got, err, want)
		}
	}
}

// The structs give the library's patch, to the byte.
func TestPatchIsTheLibrarys(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	made, rounds := 0, 2500
	for range rounds {
		if checkChoices(t, random.IntN) {
			made++
		}
	}
	if made < rounds/2 {
		t.Errorf("only %d of %d patches were made of the structs", made, rounds)
	}
}

// FuzzPatch lets the bytes choose the statuses.
func FuzzPatch(f *testing.F) {
	random := rand.NewChaCha8([32]byte{})
	for _, size := range []int{0, 10, 100, 1000} {
		seed := make([]byte, size)
		_, _ = random.Read(seed)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		checkChoices(t, func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			choice := int(choices[0]) % n
			choices = choices[1:]
			return choice
		})
	})
}

// checkChoices compares the patches from a chosen status to one made of it, to another one, and back.
func checkChoices(t *testing.T, choose chooser) bool {
	from, other := v1.PodStatus{}, v1.PodStatus{}
	choose.fill(reflect.ValueOf(&from).Elem())
	choose.fill(reflect.ValueOf(&other).Elem())
	to := from.DeepCopy()
	choose.change(reflect.ValueOf(to).Elem())
	made := checkPatch(t, &from, to)
	return checkPatch(t, to, &from) && checkPatch(t, &from, &other) && made
}

// checkPatch compares with the library, and tells whether the patch is made of the structs.
func checkPatch(t *testing.T, from, to *v1.PodStatus) bool {
	t.Helper()
	want, err := libraryPatch("uid", from, to)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := structPatch("uid", from, to)
	if ok && (!bytes.Equal(got, want) || (got == nil) != (want == nil)) {
		t.Fatalf("patch = %s\nwant    %s", got, want)
	}
	return ok
}

// chooser chooses one of n, and thereby makes values.
type chooser func(n int) int

var (
	someTexts   = []string{"", "a", "b", "c", "d", "e", "f", "g", "h", "i", "10.0.0.1", "fd00::1", "é", `"<&>\` + "\n\u2028", "\ufffd", "$patch"}
	someNumbers = []int64{0, 1, -1, 137, 1<<31 - 1}
	someAmounts = []string{"0", "1", "1000m", "1Ki", "1024", "500m", "0.5", "1e3", "12345678901234567890123", "1n"}
	someTimes   = []time.Time{{}, time.Time{}.Add(1), began, began.Add(1), began.Add(time.Second), began.In(time.FixedZone("", 3600)), time.Unix(0, 0)}
)

func (c chooser) fill(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[metav1.Time]():
		v.Set(reflect.ValueOf(metav1.NewTime(someTimes[c(len(someTimes))])))
		return
	case reflect.TypeFor[resource.Quantity]():
		v.Set(reflect.ValueOf(resource.MustParse(someAmounts[c(len(someAmounts))])))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(c.text())
	case reflect.Bool:
		v.SetBool(c(2) == 1)
	case reflect.Int32, reflect.Int64:
		v.SetInt(someNumbers[c(len(someNumbers))])
	case reflect.Pointer:
		v.SetZero()
		if c(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			c.fill(v.Elem())
		}
	case reflect.Slice:
		c.fillSlice(v)
	case reflect.Map:
		c.fillMap(v)
	case reflect.Struct:
		for i := range v.NumField() {
			c.fill(v.Field(i))
		}
	}
}

// text is now and then no UTF-8.
func (c chooser) text() string {
	if c(255) == 254 && c(16) == 15 {
		return "\xff"
	}
	return someTexts[c(len(someTexts))]
}

// fillSlice gives nothing, an empty list, or items; those that can be told apart only now and then twice.
func (c chooser) fillSlice(v reflect.Value) {
	v.SetZero()
	n := c(5)
	if n == 0 {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, n))
	for range n - 1 {
		c.add(v)
	}
}

func (c chooser) add(v reflect.Value) {
	item := reflect.New(v.Type().Elem()).Elem()
	c.fill(item)
	if item.Kind() == reflect.Struct && c(50) > 0 {
		for i := range v.Len() {
			if v.Index(i).Field(0).Equal(item.Field(0)) {
				return
			}
		}
	}
	v.Set(reflect.Append(v, item))
}

func (c chooser) fillMap(v reflect.Value) {
	v.SetZero()
	n := c(5)
	if n == 0 {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range n - 1 {
		c.put(v)
	}
}

func (c chooser) put(v reflect.Value) {
	key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	c.fill(key)
	c.fill(item)
	v.SetMapIndex(key, item)
}

// change leaves most as it is.
func (c chooser) change(v reflect.Value) {
	if c(12) == 11 {
		c.fill(v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Time]() || v.Type() == reflect.TypeFor[resource.Quantity]() {
			return
		}
		for i := range v.NumField() {
			c.change(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.change(v.Elem())
		}
	case reflect.Slice:
		c.changeSlice(v)
	case reflect.Map:
		if !v.IsNil() && c(3) == 2 {
			c.put(v)
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, key := range keys {
			if c(6) == 5 {
				v.SetMapIndex(key, reflect.Value{})
			}
		}
	}
}

func (c chooser) changeSlice(v reflect.Value) {
	for i := range v.Len() {
		if c(3) == 2 {
			c.change(v.Index(i))
		}
	}
	n := v.Len()
	switch {
	case c(6) == 5:
		c.add(v)
	case n > 0 && c(6) == 5:
		at := c(n)
		v.Set(reflect.AppendSlice(v.Slice(0, at), v.Slice(at+1, n)))
	case n > 1 && c(6) == 5:
		reflect.Swapper(v.Interface())(c(n), c(n))
	}
}

func BenchmarkPatch(b *testing.B) {
	for _, maker := range []struct {
		name string
		make func(from, to *v1.PodStatus) error
	}{
		{"structs", func(from, to *v1.PodStatus) error { _, err := Patch("uid", from, to); return err }},
		{"library", func(from, to *v1.PodStatus) error { _, err := libraryPatch("uid", from, to); return err }},
	} {
		for _, test := range transitions()[:5] {
			b.Run(maker.name+"/"+test.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := maker.make(&test.from, &test.to); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
