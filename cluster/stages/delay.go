package stages

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// delay is how long a stage waits.
type delay struct {
	duration span
	jitter   *span
}

// span is a time that a Stage names, or an object.
type span struct {
	usual *time.Duration
	from  expression
}

func compileDelay(d *Delay, path *field.Path, now func() time.Time) (*delay, field.ErrorList) {
	if d == nil {
		return nil, nil
	}
	duration, failures := compileSpan(d.DurationMilliseconds, d.DurationFrom, path, "duration", now)
	if duration.usual == nil {
		duration.usual = new(time.Duration)
	}
	made := &delay{duration: duration}
	if d.JitterDurationMilliseconds != nil || d.JitterDurationFrom != nil {
		jitter, more := compileSpan(d.JitterDurationMilliseconds, d.JitterDurationFrom, path, "jitterDuration", now)
		failures = append(failures, more...)
		made.jitter = &jitter
	}
	return made, failures
}

func compileSpan(milliseconds *int64, from *ExpressionFrom, path *field.Path, name string, now func() time.Time) (span, field.ErrorList) {
	var s span
	var failures field.ErrorList
	if milliseconds != nil {
		usual := time.Duration(*milliseconds) * time.Millisecond
		s.usual = &usual
		switch at := path.Child(name + "Milliseconds"); {
		case *milliseconds < 0:
			failures = append(failures, notNegative(at, *milliseconds))
		case usual.Milliseconds() != *milliseconds:
			failures = append(failures, field.Invalid(at, *milliseconds, "is longer than 292 years"))
		}
	}
	var err error
	if s.from, err = compileExpression(from, now); err != nil {
		failures = append(failures, field.Invalid(path.Child(name+"From"), from.text(), err.Error()))
	}
	return s, failures
}

// of gives the span for an object; false when there is none. The object may name a moment or a duration, as text; what can't be read
// counts as not there, but an empty text says that there is none.
func (s span) of(o object, now time.Time) (time.Duration, bool) {
	if s.from != nil {
		switch v := s.from(o).(type) {
		case string:
			if v == "" {
				return 0, false
			}
			if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
				return at.Sub(now), true
			}
			if d, err := time.ParseDuration(v); err == nil {
				return d, true
			}
		case time.Time:
			return v.Sub(now), true
		case time.Duration:
			return v, true
		case int64:
			return time.Duration(v), true
		}
	}
	if s.usual == nil {
		return 0, false
	}
	return *s.usual, true
}

// of gives how long a stage waits for an object: between duration and jitter, by chance, which is a number from 0 to below n.
//
//	1 s, jitter 5 s   → 1 s and up to 4 s more
//	1 s, jitter 0.2 s → 0.2 s
func (d *delay) of(o object, now time.Time, chance func(n int64) int64) time.Duration {
	if d == nil {
		return 0
	}
	duration, ok := d.duration.of(o, now)
	if !ok || d.jitter == nil {
		return duration
	}
	jitter, ok := d.jitter.of(o, now)
	switch {
	case !ok:
		return duration
	case jitter <= duration:
		return jitter
	}
	return duration + time.Duration(chance(int64(jitter-duration)))
}
