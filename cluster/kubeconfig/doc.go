// Package kubeconfig writes the files by which kubectl and the components find a cluster, and merges a cluster
// into the user's own file without touching anything else there.
//
// Files are replaced by a rename under kubectl's own lock (FILE.lock), with mode 0600: they hold keys.
//
//	entry := kubeconfig.Entry{Name: "kogge-dev", Server: "https://127.0.0.1:6443", CA: caPEM, Client: adminPair}
//	file, err := kubeconfig.Merge("", entry) // into $KUBECONFIG or ~/.kube/config
//	err = kubeconfig.Remove("", "kogge-dev")
//	err = kubeconfig.Write("/etc/kubernetes/kubelet.conf", entry)
package kubeconfig
