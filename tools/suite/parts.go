package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is a set of tests that share a cluster.
type part struct {
	name  string
	tests []string
	// nodes is how many simulated ones the part's own cluster has; -1: it runs on the cluster of -kubeconfig.
	nodes int
}

// parts gives the parts of a set.
func (s *suite) parts(set string) ([]part, error) {
	lists := map[string][]string{}
	for _, name := range []string{"api_only", "api_only_needs_node_object", "needs_pods", "needs_pods_status_only"} {
		list, err := s.list(name)
		if err != nil {
			return nil, err
		}
		lists[name] = list
	}
	without := slices.DeleteFunc(slices.Clone(lists["api_only"]), func(t string) bool { return slices.Contains(lists["api_only_needs_node_object"], t) })
	api := []part{{"without-nodes", without, 0}, {"with-nodes", lists["api_only_needs_node_object"], 2}}
	switch set {
	case "api":
		return api, nil
	case "simulated":
		api[1].tests = append(api[1].tests, lists["needs_pods_status_only"]...)
		return api, nil
	case "all":
		if s.kubeconfig == "" {
			return nil, fmt.Errorf("the set \"all\" needs -kubeconfig")
		}
		return []part{{"all", append(lists["api_only"], lists["needs_pods"]...), -1}}, nil
	}
	return nil, fmt.Errorf("unknown set %q: api, simulated or all", set)
}

// list reads a list of tests, as far as -focus lets them through.
func (s *suite) list(name string) ([]string, error) {
	focus, err := regexp.Compile(s.focus)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(s.lists, name+".txt"))
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var list []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && focus.MatchString(line) {
			list = append(list, line)
		}
	}
	return list, lines.Err()
}

// pattern matches the names of tests and nothing else.
func pattern(tests []string) string {
	quoted := make([]string, len(tests))
	for i, t := range tests {
		quoted[i] = regexp.QuoteMeta(t) + "$"
	}
	return strings.Join(quoted, "|")
}
