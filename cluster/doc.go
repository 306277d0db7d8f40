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
// What runs is what runs anywhere else: the API server on its embedded etcd, all controllers, the
// scheduler, and for each node a kubelet, whose containers are simulated. Components reach the API server
// in process, each as its own identity.
//
// Clusters of real containers are made by package cluster/island.
package cluster
