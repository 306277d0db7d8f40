package v1beta1

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

// annotationSchedule keeps a schedule that this version can't tell, so that nothing is lost on the way there and back.
const annotationSchedule = "backup.example.com/schedule"

// ConvertTo makes it into the hub's version.
func (b *Backup) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1.Backup)
	if !ok {
		return fmt.Errorf("a %T is no hub of Backups", hub)
	}
	from := b.DeepCopy()
	to.ObjectMeta, to.Status = from.ObjectMeta, from.Status
	to.Spec = v1.BackupSpec{Claim: from.Spec.Volume, Schedule: cron(from.Spec.At), Keep: from.Spec.Keep, Suspend: from.Spec.Suspend, PodAnnotations: from.Spec.PodAnnotations}
	if kept, ok := to.Annotations[annotationSchedule]; ok {
		if from.Spec.At == nil {
			to.Spec.Schedule = kept
		}
		delete(to.Annotations, annotationSchedule)
	}
	return nil
}

// ConvertFrom makes it from the hub's version.
func (b *Backup) ConvertFrom(hub conversion.Hub) error {
	original, ok := hub.(*v1.Backup)
	if !ok {
		return fmt.Errorf("a %T is no hub of Backups", hub)
	}
	from := original.DeepCopy()
	b.ObjectMeta, b.Status = from.ObjectMeta, from.Status
	b.Spec = BackupSpec{Volume: from.Spec.Claim, At: timeOf(from.Spec.Schedule), Keep: from.Spec.Keep, Suspend: from.Spec.Suspend, PodAnnotations: from.Spec.PodAnnotations}
	if b.Spec.At == nil && from.Spec.Schedule != "" {
		if b.Annotations == nil {
			b.Annotations = map[string]string{}
		}
		b.Annotations[annotationSchedule] = from.Spec.Schedule
	}
	return nil
}

// cron is the time as cron(5) tells it.
func cron(at *Time) string {
	if at == nil {
		return ""
	}
	weekday := "*"
	if at.Weekday != nil {
		weekday = strconv.Itoa(int(*at.Weekday))
	}
	return fmt.Sprintf("%d %d * * %s", at.Minute, at.Hour, weekday)
}

// timeOf is the time that cron makes into the schedule; nil if there is none.
func timeOf(schedule string) *Time {
	fields := strings.Fields(schedule)
	if len(fields) != 5 {
		return nil
	}
	at := &Time{}
	for _, f := range []struct {
		text string
		into *int32
	}{{fields[0], &at.Minute}, {fields[1], &at.Hour}} {
		n, err := strconv.ParseInt(f.text, 10, 32)
		if err != nil {
			return nil
		}
		*f.into = int32(n)
	}
	if n, err := strconv.ParseInt(fields[4], 10, 32); err == nil {
		weekday := int32(n)
		at.Weekday = &weekday
	}
	if cron(at) != schedule {
		return nil
	}
	return at
}
