package kubeconfig

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kogge-dev/kogge/cluster/pki"
)

// Entry is one cluster as one user sees it. Context, cluster and user bear the same name.
type Entry struct {
	Name   string
	Server string
	// CA is the authority of the server's certificate, in PEM.
	CA []byte
	// Client is the user's certificate and key.
	Client pki.Pair
}

// Encode is a whole kubeconfig file that holds this entry alone, with its context selected.
func (e Entry) Encode() ([]byte, error) {
	config := clientcmdapi.NewConfig()
	e.add(config)
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig: %w", err)
	}
	return content, nil
}

// add puts the entry into config in place of one of the same name, and selects its context. The namespace that
// the user chose for that context stays.
func (e Entry) add(config *clientcmdapi.Config) {
	cluster := clientcmdapi.NewCluster()
	cluster.Server = e.Server
	cluster.CertificateAuthorityData = e.CA
	config.Clusters[e.Name] = cluster

	user := clientcmdapi.NewAuthInfo()
	user.ClientCertificateData = e.Client.Certificate
	user.ClientKeyData = e.Client.Key
	config.AuthInfos[e.Name] = user

	selected := clientcmdapi.NewContext()
	selected.Cluster = e.Name
	selected.AuthInfo = e.Name
	if present := config.Contexts[e.Name]; present != nil {
		selected.Namespace = present.Namespace
	}
	config.Contexts[e.Name] = selected
	config.CurrentContext = e.Name
}

// remove takes the entry called name out of config and tells whether anything was there. When its context was
// the selected one, none is selected afterwards.
func remove(config *clientcmdapi.Config, name string) bool {
	_, cluster := config.Clusters[name]
	_, user := config.AuthInfos[name]
	_, selected := config.Contexts[name]
	delete(config.Clusters, name)
	delete(config.AuthInfos, name)
	delete(config.Contexts, name)
	changed := cluster || user || selected
	if config.CurrentContext == name {
		config.CurrentContext = ""
		changed = true
	}
	return changed
}
