package envtest

import "sigs.k8s.io/controller-runtime/pkg/envtest"

// What describes and installs is controller-runtime's own.
type (
	// CRDInstallOptions say which CustomResourceDefinitions are installed, and how.
	CRDInstallOptions = envtest.CRDInstallOptions
	// WebhookInstallOptions say which webhooks are installed, and where their server listens.
	WebhookInstallOptions = envtest.WebhookInstallOptions
	// APIServer holds the API server's flags and address. What is about its process has no effect here.
	APIServer = envtest.APIServer
	// Etcd holds the store's folder. What is about its process has no effect here.
	Etcd = envtest.Etcd
	// User is who may be added.
	User = envtest.User
	// ListenAddr is an address to listen on.
	ListenAddr = envtest.ListenAddr
	// SecureServing is where the API server listens.
	SecureServing = envtest.SecureServing
	// Authn is how users are made known; the environment has its own way.
	Authn = envtest.Authn
	// Arguments are flags.
	Arguments = envtest.Arguments
	// Arg is a flag.
	Arg = envtest.Arg
)

// Functions of controller-runtime's package that serve any API server.
var (
	EmptyArguments = envtest.EmptyArguments
	InstallCRDs    = envtest.InstallCRDs
	UninstallCRDs  = envtest.UninstallCRDs
	CreateCRDs     = envtest.CreateCRDs
	ReadCRDFiles   = envtest.ReadCRDFiles
	WaitForCRDs    = envtest.WaitForCRDs
)

// WaitForWebhooks waits until webhooks are served.
var WaitForWebhooks = envtest.WaitForWebhooks

// What says where controller-runtime's environment finds binaries and how it starts them; here for suites that name it.
var (
	SetupEnvtestDefaultBinaryAssetsDirectory = envtest.SetupEnvtestDefaultBinaryAssetsDirectory
	DefaultBinaryAssetsIndexURL              = envtest.DefaultBinaryAssetsIndexURL
	DefaultKubeAPIServerFlags                = envtest.DefaultKubeAPIServerFlags
)
