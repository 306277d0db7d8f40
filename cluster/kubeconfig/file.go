package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kogge-dev/kogge/cluster/pki"
)

// Write writes a file that holds the entry alone.
func Write(file string, entry Entry) error {
	content, err := entry.Encode()
	if err != nil {
		return err
	}
	return replace(file, content)
}

// Read takes the entry called name out of a file that Write wrote.
func Read(file, name string) (Entry, error) {
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return Entry{}, fmt.Errorf("read kubeconfig %s: %w", file, err)
	}
	cluster, user := config.Clusters[name], config.AuthInfos[name]
	if cluster == nil || user == nil {
		return Entry{}, fmt.Errorf("kubeconfig %s has no entry %q", file, name)
	}
	return Entry{
		Name: name, Server: cluster.Server, CA: cluster.CertificateAuthorityData,
		Client: pki.Pair{Certificate: user.ClientCertificateData, Key: user.ClientKeyData},
	}, nil
}

// Merge puts the entry into a kubeconfig file, selects its context there, and returns which file it was: the
// explicit one, or else the one that kubectl would write to.
func Merge(explicit string, entry Entry) (string, error) {
	file, err := target(explicit)
	if err != nil {
		return "", err
	}
	return file, edit(file, func(config *clientcmdapi.Config) bool {
		entry.add(config)
		return true
	})
}

// Remove takes the cluster called name out of the explicit file, or else out of all files that kubectl would
// read. Files without it stay as they are; missing files are no error.
func Remove(explicit, name string) error {
	files := []string{explicit}
	if explicit == "" {
		files = candidates()
	}
	var failures []error
	for _, file := range files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		failures = append(failures, edit(file, func(config *clientcmdapi.Config) bool { return remove(config, name) }))
	}
	return errors.Join(failures...)
}

// candidates are the files that kubectl reads: those of $KUBECONFIG, or else ~/.kube/config.
func candidates() []string {
	var files []string
	for _, file := range filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)) {
		if file != "" {
			files = append(files, file)
		}
	}
	if len(files) > 0 {
		return files
	}
	// Asked at each call, not once at start as clientcmd.RecommendedHomeFile is.
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(home, clientcmd.RecommendedHomeDir, clientcmd.RecommendedFileName)}
}

// target is the file to merge into: of several candidates the first that exists, or else the last, as kubectl
// chooses.
func target(explicit string) (string, error) {
	if explicit != "" {
		return explicit, nil
	}
	files := candidates()
	if len(files) == 0 {
		return "", fmt.Errorf("no place for a kubeconfig: neither $KUBECONFIG nor a home directory is set")
	}
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return files[len(files)-1], nil
}

// edit applies change to the file's content under its lock; a change that returns false writes nothing.
func edit(file string, change func(*clientcmdapi.Config) bool) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make directory for kubeconfig: %w", err)
	}
	unlock, err := lock(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	config, err := clientcmd.LoadFromFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		config = clientcmdapi.NewConfig()
	case err != nil:
		return fmt.Errorf("read kubeconfig %s: %w", file, err)
	}
	if !change(config) {
		return nil
	}
	if empty(config) {
		// What held nothing but our entry is as it was before: not there.
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove empty kubeconfig: %w", err)
		}
		return nil
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	return replace(file, content)
}

// empty tells whether a kubeconfig says nothing at all.
func empty(config *clientcmdapi.Config) bool {
	return len(config.Clusters) == 0 && len(config.AuthInfos) == 0 && len(config.Contexts) == 0 &&
		len(config.Extensions) == 0 && config.CurrentContext == ""
}

// lock takes the lock that kubectl takes too: a file that must not exist before.
func lock(file string) (unlock func() error, err error) {
	name := file + ".lock"
	handle, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("kubeconfig is locked: remove %s if no kubectl is changing it: %w", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("lock kubeconfig: %w", err)
	}
	if err := handle.Close(); err != nil {
		return nil, fmt.Errorf("lock kubeconfig: %w", err)
	}
	return func() error {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("unlock kubeconfig: %w", err)
		}
		return nil
	}, nil
}

// replace puts content in the file's place at once. A symbolic link stays one.
func replace(file string, content []byte) error {
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved
	}
	partial := file + ".partial"
	if err := os.WriteFile(partial, content, 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	if err := os.Rename(partial, file); err != nil {
		return fmt.Errorf("put kubeconfig in place: %w", err)
	}
	return nil
}
