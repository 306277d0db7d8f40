package stages

import (
	"testing"
	"time"
)

func TestDelay(t *testing.T) {
	t.Parallel()
	now := testClock()
	o := object{"metadata": map[string]any{
		"deletionTimestamp": "2030-01-01T12:00:30Z",
		"annotations":       map[string]any{"long": "2m", "short": "100ms", "empty": "", "bad": "soon", "past": "2030-01-01T11:59:50Z"},
	}}
	half := func(n int64) int64 { return n / 2 }
	for delay, want := range map[string]time.Duration{
		``:                           0,
		`durationMilliseconds: 1500`: 1500 * time.Millisecond,
		`durationMilliseconds: 1000, jitterDurationMilliseconds: 5000`:                                                        3 * time.Second,
		`durationMilliseconds: 1000, jitterDurationMilliseconds: 200`:                                                         200 * time.Millisecond,
		`jitterDurationMilliseconds: 200`:                                                                                     100 * time.Millisecond,
		`durationMilliseconds: 1, durationFrom: {expressionFrom: .metadata.annotations.long}`:                                 2 * time.Minute,
		`durationMilliseconds: 1000, durationFrom: {expressionFrom: .metadata.annotations.bad}`:                               time.Second,
		`durationMilliseconds: 1000, durationFrom: {expressionFrom: .metadata.annotations.absent}`:                            time.Second,
		`durationMilliseconds: 1000, durationFrom: {expressionFrom: .metadata.annotations.empty}`:                             0,
		`durationFrom: {jq: {expression: .metadata.deletionTimestamp}}`:                                                       30 * time.Second,
		`durationFrom: {expressionFrom: .metadata.annotations.past}`:                                                          -10 * time.Second,
		`durationMilliseconds: 1000, jitterDurationFrom: {expressionFrom: .metadata.deletionTimestamp}`:                       15500 * time.Millisecond,
		`durationMilliseconds: 1000, jitterDurationFrom: {expressionFrom: .metadata.annotations.short}`:                       100 * time.Millisecond,
		`durationMilliseconds: 1000, jitterDurationFrom: {expressionFrom: .metadata.annotations.absent}`:                      time.Second,
		`durationFrom: {cel: {expression: "duration('3s')"}}`:                                                                 3 * time.Second,
		`durationFrom: {cel: {expression: "self.metadata.annotations.short"}}`:                                                100 * time.Millisecond,
		`durationFrom: {cel: {expression: "timestamp(self.metadata.deletionTimestamp) - timestamp('2030-01-01T12:00:29Z')"}}`: time.Second,
		`durationFrom: {cel: {expression: "timestamp(self.metadata.deletionTimestamp)"}}`:                                     30 * time.Second,
		`durationFrom: {cel: {expression: "timestamp(self.metadata.deletionTimestamp) - Now()"}}`:                             30 * time.Second,
		`durationFrom: {cel: {expression: "2.0 * 1000000000.0"}}`:                                                             2 * time.Second,
	} {
		s := stageOf(t, "resourceRef: {kind: Pod}\nselector: {}\ndelay: {"+delay+"}")
		if got := s.delay.of(o, now, half); got != want {
			t.Errorf("%s: %s, want %s", delay, got, want)
		}
	}
}
