// Package nodeinit is the first process of a node container: it makes the container's inside and then starts,
// restarts and reaps what runs there: containerd, the kubelet, the proxy. Each of the three may be killed and
// comes back; none takes containers along, because a container's own parent (its shim) falls to this process.
//
// The supervisor starts it in mount, network, process, host-name and IPC namespaces of its own. Two steps follow
// in the same process:
//
//	Prepare   joins the node's cgroup, makes a cgroup namespace, starts itself again as:
//	Run       waits for the network link, mounts, leaves the host's root, configures the network, runs services
//
// The node's root is an overlay over the host's, which shows the root file system alone. What the host keeps for
// itself is covered (/root, /home, and configuration of other container engines); what a node keeps across a
// restart lies in its directory on the host: the overlay's upper layer, /var/lib/containerd, /var/lib/kubelet,
// /var/log. /run is new at each start, so a restart is for containerd and the kubelet what a reboot is.
//
//	config, err := nodeinit.Load("nodes/dev-1/node.json")
//	err = nodeinit.Prepare(config, "nodes/dev-1/node.json") // returns only when it failed
//	err = nodeinit.Run(ctx, config, logger)
//
// Next: package kubelet, for what the node then does.
package nodeinit
