// Package cluster puts the components together, and is the only place that does: a whole cluster in
// one process, for tests and for a look around.
//
//	c, err := cluster.Start(ctx, cluster.Options{Nodes: 2})
//	defer c.Stop()
//	clientset, err := kubernetes.NewForConfig(c.RESTConfig())
//
// In a test, ForTest starts one that ends with it, and says there what it does:
//
//	c := cluster.ForTest(t, cluster.Options{})
//
// What runs is what runs anywhere else: the API server, all controllers, the scheduler, and for each node
// a kubelet, whose containers are simulated. Components reach the API server in process, each as its own
// identity. Without Options.Dir objects are kept in memory, with it in an embedded etcd.
//
// # Time
//
// Options.Clock is seen by all that concerns objects: their timestamps, conditions and deletions, the tokens
// of ServiceAccounts, the life of Events, all controllers with their retries (CronJobs, TTLs of Jobs, leases
// and the life of nodes, evictions, windows of autoscalers), the scheduler's backoffs, and kubelets with
// their probes, restarts and simulated containers; the delays of Stages. A Clock goes on by itself and can be stepped:
//
//	clock := cluster.NewClock(time.Time{})
//	c := cluster.ForTest(t, cluster.Options{Clock: clock, Nodes: 1})
//	clock.Step(24 * time.Hour)
//
// A step is one jump for everybody, as if the machine had slept: of the hours of a day that passes at once a
// CronJob makes up for the last, so that whoever wants each of them steps by the hour. A kubelet renews its
// lease at once after a step, but a node is first seen to be late if the step is longer than the grace period
// and its kubelet is slower than the controller.
//
// Real time have: certificates, connections with their timeouts and webhooks, the pauses between two tries of
// what failed in the API server, the leases of etcd (with Options.Dir: an Event's life), the ages that tables
// show, the timestamps within Events and of the conditions that the API server writes by itself.
//
// Clusters of real containers are made by package cluster/island.
package cluster
