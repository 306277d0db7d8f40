package pki

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Keys is what a cluster keeps for as long as it lives. All other certificates can be signed anew at each start.
type Keys struct {
	CA             *CA
	ServiceAccount *ecdsa.PrivateKey
}

// The files of a directory of keys bear the names that kubeadm gives them.
const (
	caCertificateFile = "ca.crt"
	caKeyFile         = "ca.key"
	serviceKeyFile    = "sa.key"
	servicePublicFile = "sa.pub"
)

// LoadOrCreate reads the keys in dir, and makes what is missing there. Private keys get mode 0600, the
// directory 0700. A half-written pair is an error: replacing it would cut off everyone who trusts the other half.
func LoadOrCreate(dir string) (*Keys, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory for keys: %w", err)
	}
	ca, err := loadOrCreateCA(filepath.Join(dir, caCertificateFile), filepath.Join(dir, caKeyFile))
	if err != nil {
		return nil, err
	}
	key, err := loadOrCreateServiceAccountKey(filepath.Join(dir, serviceKeyFile), filepath.Join(dir, servicePublicFile))
	if err != nil {
		return nil, err
	}
	return &Keys{CA: ca, ServiceAccount: key}, nil
}

// LoadCA reads an authority from its two files.
func LoadCA(certificateFile, keyFile string) (*CA, error) {
	certificatePEM, err := os.ReadFile(certificateFile)
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the authority's key: %w", err)
	}
	certificate, err := decodeCertificate(certificatePEM)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", certificateFile, err)
	}
	key, err := DecodeKey(keyPEM)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	if !key.PublicKey.Equal(certificate.PublicKey) {
		return nil, fmt.Errorf("%s and %s do not belong together", certificateFile, keyFile)
	}
	return &CA{Certificate: certificate, key: key, pair: Pair{Certificate: certificatePEM, Key: keyPEM}}, nil
}

func loadOrCreateCA(certificateFile, keyFile string) (*CA, error) {
	ca, err := LoadCA(certificateFile, keyFile)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return ca, err
	}
	if present(certificateFile) || present(keyFile) {
		return nil, fmt.Errorf("only one of %s and %s is there: %w", certificateFile, keyFile, err)
	}
	ca, err = NewCA("kubernetes")
	if err != nil {
		return nil, err
	}
	if err := writeFile(keyFile, ca.pair.Key, 0o600); err != nil {
		return nil, err
	}
	return ca, writeFile(certificateFile, ca.pair.Certificate, 0o644)
}

func loadOrCreateServiceAccountKey(keyFile, publicFile string) (*ecdsa.PrivateKey, error) {
	data, err := os.ReadFile(keyFile)
	if err == nil {
		key, err := DecodeKey(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keyFile, err)
		}
		return key, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the key for service accounts: %w", err)
	}
	key, err := NewServiceAccountKey()
	if err != nil {
		return nil, err
	}
	private, err := EncodeKey(key)
	if err != nil {
		return nil, err
	}
	public, err := EncodePublicKey(key)
	if err != nil {
		return nil, err
	}
	if err := writeFile(publicFile, public, 0o644); err != nil {
		return nil, err
	}
	return key, writeFile(keyFile, private, 0o600)
}

func present(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// writeFile puts the content in place by a rename, so that a process killed meanwhile leaves no half file.
func writeFile(file string, content []byte, mode fs.FileMode) error {
	partial := file + ".partial"
	if err := os.WriteFile(partial, content, mode); err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	if err := os.Rename(partial, file); err != nil {
		return fmt.Errorf("put key file in place: %w", err)
	}
	return nil
}
