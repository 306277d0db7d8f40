// Package realnode gives tests a containerd of their own, in namespaces of their own.
//
// Main runs a package's tests in a child process with its own mount, network and pid namespaces: containerd runs
// inside, containers get addresses of a range that exists only there, and when the child ends the kernel ends and
// unmounts whatever is left. The parent removes the control groups. Tests need root and the repository's bin folder.
//
//	func TestMain(m *testing.M) { os.Exit(realnode.Main(m)) }
//	func TestX(t *testing.T) { services, images := realnode.Services(t) … }
package realnode
