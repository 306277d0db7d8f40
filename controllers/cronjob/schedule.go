package cronjob

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // time zones that the host may not have

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
)

// margin is how long after its time a CronJob is looked at, so that a clock that is
// slightly off doesn't make the controller early.
const margin = 100 * time.Millisecond

// manyMissed is how many missed times are too many to be an accident.
const manyMissed = 100

// parse reads a CronJob's schedule in its time zone. The parser panics on some mistakes.
func parse(c *batchv1.CronJob) (schedule cron.Schedule, err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			schedule, err = nil, fmt.Errorf("invalid schedule format: %v", recovered)
		}
	}()
	text := c.Spec.Schedule
	if zone := c.Spec.TimeZone; zone != nil && !namesZone(text) {
		if _, err := time.LoadLocation(*zone); err == nil {
			text = "TZ=" + *zone + " " + text
		}
	}
	return cron.ParseStandard(text)
}

// namesZone says that the schedule itself names a time zone, which isn't supported but works.
func namesZone(schedule string) bool { return strings.Contains(schedule, "TZ") }

// errTooDense means a schedule whose times don't lie apart, or never come.
var errTooDense = errors.New("time difference between two schedules is less than 1 second")

// times is what a schedule says at one moment.
type times struct {
	// since is the time from which missed times count.
	since time.Time
	// latest is the last time up to now; zero: there is none.
	latest time.Time
	// missed is about how many times there were up to now.
	missed int64
}

// look finds the latest time between the last one that was served, or the creation, and
// now. With the deadline respected, older times than it allows don't count.
func look(c *batchv1.CronJob, schedule cron.Schedule, now time.Time, respectDeadline bool) (times, error) {
	t := times{since: c.CreationTimestamp.Time}
	if c.Status.LastScheduleTime != nil {
		t.since = c.Status.LastScheduleTime.Time
	}
	if seconds := c.Spec.StartingDeadlineSeconds; respectDeadline && seconds != nil {
		if earliest := now.Add(-time.Duration(*seconds) * time.Second); earliest.After(t.since) {
			t.since = earliest
		}
	}
	first := schedule.Next(t.since)
	second := schedule.Next(first)
	switch {
	case now.Before(first):
		return t, nil
	case now.Before(second):
		t.latest = first
		return t, nil
	}
	apart := int64(second.Sub(first).Round(time.Second).Seconds())
	if apart < 1 {
		return t, errTooDense
	}
	t.missed = int64(now.Sub(first).Seconds())/apart + 1
	// Not every time is walked through: most are jumped over by the distance of the first
	// two, less one for schedules whose times aren't evenly apart.
	from := first.Add(time.Duration((t.missed-2)*apart) * time.Second)
	for at := schedule.Next(from); !at.After(now); at = schedule.Next(at) {
		t.latest = at
	}
	return t, nil
}

// untilNext is how long it takes to the next time, with the margin.
func untilNext(c *batchv1.CronJob, schedule cron.Schedule, now time.Time) time.Duration {
	t, err := look(c, schedule, now, false)
	from := t.latest
	switch {
	case err != nil:
		from = now
	case from.IsZero() && t.missed == 0:
		from = t.since
	case from.IsZero():
		from = now
	}
	return schedule.Next(from).Add(margin).Sub(now)
}
