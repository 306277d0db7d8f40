// Package envtest is a test environment with the face of controller-runtime's package of the same name: a test changes the import path,
// and the control plane runs in its own process, in a fraction of a second, without binaries.
//
//	testEnv = &envtest.Environment{
//		CRDDirectoryPaths: []string{filepath.Join("..", "config", "crd", "bases")},
//		Controllers:       []string{"*"}, // what controller-runtime's can't
//		Nodes:             2,
//	}
//	cfg, err := testEnv.Start()
//
// As in controller-runtime's, nothing but the API server runs unless it is asked for: by Controllers, which also brings garbage
// collection and the deletion of namespaces, and by Nodes. The environment variables USE_EXISTING_CLUSTER,
// KUBEBUILDER_CONTROLPLANE_START_TIMEOUT and KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT mean what they mean there.
package envtest
