// Package upstream is where the genuine binaries and the official suite are built, with a go.mod of its own. Its lists name the
// suite's tests by what they need:
//
//   - api_only.txt: no pod; of these, api_only_needs_node_object.txt need a Node that is only an object
//   - needs_pods.txt: pods; of these, needs_pods_status_only.txt look at the status of pods alone
//   - classes.tsv: all, each with its class
//
// tools/setup builds, tools/suite runs.
package upstream
