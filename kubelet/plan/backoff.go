package plan

import "time"

// Backoff spaces repeated attempts: the first repetition comes at once, then after First, and each time twice as
// late, up to Last. Who has not failed for twice Last starts anew. For containers First is 10 s and Last 5 min, so
// that ten quiet minutes forget; images are pulled on the same scale.
type Backoff struct {
	delay   time.Duration
	updated time.Time
}

// The scale of both back-offs (upstream's MaxContainerBackOff and initial back-off).
const (
	FirstBackoff = 10 * time.Second
	LastBackoff  = 5 * time.Minute
)

// Until is when the next attempt may be made, given when the last one ended. The zero time means now.
func (b Backoff) Until(ended time.Time) time.Time {
	if b.delay == 0 || ended.Sub(b.updated) > 2*LastBackoff {
		return time.Time{}
	}
	return ended.Add(b.delay)
}

// Delay is the distance of the attempts now.
func (b Backoff) Delay() time.Duration { return b.delay }

// Next is the back-off after one more attempt, made now, after the last one ended.
func (b Backoff) Next(ended, now time.Time) Backoff {
	delay := b.delay * 2
	if b.delay == 0 || ended.Sub(b.updated) > 2*LastBackoff {
		delay = FirstBackoff
	}
	return Backoff{delay: min(delay, LastBackoff), updated: now}
}

// Updated is when the last attempt was counted.
func (b Backoff) Updated() time.Time { return b.updated }
