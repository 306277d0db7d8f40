package v1beta1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for schedule, at := range map[string]*Time{
		"":             nil,
		"0 3 * * *":    {Hour: 3},
		"30 4 * * 0":   {Hour: 4, Minute: 30, Weekday: ptr.To[int32](0)},
		"*/5 * * * *":  nil,
		"0 3 1 * *":    nil,
		"00 3 * * *":   nil,
		"0 3 * * mon":  nil,
		"@hourly":      nil,
		"0 3 * * * *":  nil,
		"0  3 * * *":   nil,
		"59 23 * * 6":  {Hour: 23, Minute: 59, Weekday: ptr.To[int32](6)},
		"x 3 * * 6":    nil,
		"0 3-5 * * *":  nil,
		"0 3 * 1-2 *":  nil,
		"15 14 * * 1,": nil,
	} {
		hub := &v1.Backup{Spec: v1.BackupSpec{Claim: "data", Schedule: schedule, Keep: ptr.To[int32](3)}}
		spoke, back := &Backup{}, &v1.Backup{}
		if err := spoke.ConvertFrom(hub); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(at, spoke.Spec.At); d != "" {
			t.Errorf("%q is\n%s", schedule, d)
		}
		if err := spoke.ConvertTo(back); err != nil {
			t.Fatal(err)
		}
		if len(back.Annotations) == 0 {
			back.Annotations = nil
		}
		if d := cmp.Diff(hub, back); d != "" {
			t.Errorf("%q there and back:\n%s", schedule, d)
		}
	}
}
