package main

import (
	"context"
	"fmt"
	"time"
)

// lists of each form; the median counts.
const lists = 15

// reads lists the stored pods in several forms. Answers are read, not decoded: that would be the client's time.
func reads(ctx context.Context, _ side, cs clients, add func(row, string, float64)) error {
	for _, form := range []struct {
		name, accept string
		limit        string
	}{
		{"LIST 5,000 pods, JSON, p50", "application/json", ""},
		{"LIST 5,000 pods, protobuf, p50", "application/vnd.kubernetes.protobuf", ""},
		{"LIST 5,000 pods as Table, p50", "application/json;as=Table;v=v1;g=meta.k8s.io", ""},
		{"LIST page of 500 pods, JSON, p50", "application/json", "500"},
	} {
		var times []time.Duration
		for range lists {
			r := cs[0].CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/stored/pods").SetHeader("Accept", form.accept)
			if form.limit != "" {
				r = r.Param("limit", form.limit)
			}
			began := time.Now()
			if _, err := r.DoRaw(ctx); err != nil {
				return fmt.Errorf("%s: %w", form.name, err)
			}
			times = append(times, time.Since(began))
		}
		add(row(form.name), "ms", float64(median(times).Microseconds())/1000)
	}
	return nil
}
