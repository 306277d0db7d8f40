package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strings"
)

// tally is what came out.
type tally struct {
	passed          int
	failed, missing []string
	seen            map[string]bool
}

func (t *tally) add(o tally) {
	t.passed += o.passed
	t.failed = append(t.failed, o.failed...)
	t.missing = append(t.missing, o.missing...)
}

// expect notes which tests should have run and did not.
func (t *tally) expect(tests []string) {
	for _, name := range tests {
		if !t.seen[name] {
			t.missing = append(t.missing, name)
		}
	}
}

// report is as much of a JUnit report as is looked at.
type report struct {
	Cases []struct {
		Name   string `xml:"name,attr"`
		Status string `xml:"status,attr"`
	} `xml:"testsuite>testcase"`
}

// read counts a report's tests. Steps before and after all tests count only when they failed.
func read(path string) (tally, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return tally{}, err
	}
	var r report
	if err := xml.Unmarshal(b, &r); err != nil {
		return tally{}, fmt.Errorf("%s: %w", path, err)
	}
	t := tally{seen: map[string]bool{}}
	for _, c := range r.Cases {
		name, isTest := strings.CutPrefix(c.Name, "[It] ")
		// Ginkgo adds a test's labels to its name.
		if i := strings.LastIndex(name, " ["); i > 0 && strings.Contains(name[i:], ", ") {
			name = name[:i]
		}
		switch {
		case c.Status == "skipped" || c.Status == "pending":
		case c.Status == "passed":
			if isTest && !t.seen[name] {
				t.passed++
			}
		case !slices.Contains(t.failed, name):
			t.failed = append(t.failed, name)
		}
		if isTest && c.Status != "skipped" {
			t.seen[name] = true
		}
	}
	return t, nil
}
