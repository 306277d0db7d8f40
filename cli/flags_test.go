package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kogge-dev/kogge/cluster/pki"
)

func TestAdvertised(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ advertise, bind, want string }{
		{"172.31.0.1", "127.0.0.1", "172.31.0.1"},
		{"", "192.0.2.1", "192.0.2.1"},
		{"", "0.0.0.0", "invalid IP"},
		{"", "127.0.0.1", "invalid IP"},
		{"127.0.0.1", "0.0.0.0", "invalid IP"},
	} {
		got, err := advertised(test.advertise, test.bind)
		if err != nil || got.String() != test.want {
			t.Errorf("advertise %q, bind %q: %s, %v, want %s", test.advertise, test.bind, got, err, test.want)
		}
	}
	if _, err := advertised("here", "127.0.0.1"); err == nil {
		t.Error("a name was accepted as an address")
	}
}

func TestPortRange(t *testing.T) {
	t.Parallel()
	if got, err := portRange("x", "30000-32767"); err != nil || got != [2]int{30000, 32767} {
		t.Errorf("got %v, %v", got, err)
	}
	for _, wrong := range []string{"", "30000", "2-1", "0-5", "1-65536", "a-b"} {
		if _, err := portRange("x", wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

// The names of upstream's flags that scripts use must be there.
func TestComponentsHaveUpstreamsFlags(t *testing.T) {
	t.Parallel()
	root := newRoot()
	for component, flags := range map[string]string{
		"apiserver": "etcd-servers secure-port bind-address advertise-address client-ca-file tls-cert-file tls-private-key-file " +
			"service-account-issuer service-account-key-file service-account-signing-key-file service-cluster-ip-range " +
			"service-node-port-range token-auth-file kubelet-client-certificate kubelet-client-key kubelet-certificate-authority v",
		"controllers": "kubeconfig controllers root-ca-file cluster-cidr node-cidr-mask-size leader-elect v",
		"scheduler":   "kubeconfig v",
		"kubelet": "kubeconfig hostname-override node-ip root-dir container-runtime-endpoint address port client-ca-file " +
			"tls-cert-file tls-private-key-file cgroup-root cluster-dns cluster-domain node-labels max-pods v",
		"proxy": "kubeconfig hostname-override cluster-cidr v",
	} {
		command, _, err := root.Find([]string{component})
		if err != nil {
			t.Fatal(err)
		}
		for flag := range strings.FieldsSeq(flags) {
			if command.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no --%s", component, flag)
			}
		}
	}
}

func TestKeysOfServiceAccountTokens(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if _, err := pki.LoadOrCreate(directory); err != nil {
		t.Fatal(err)
	}
	if _, err := signingKey(apiserverFlags{signingKeyFile: filepath.Join(directory, "sa.key")}); err != nil {
		t.Errorf("a key that signs: %v", err)
	}
	if _, err := signingKey(apiserverFlags{signingKeyFile: filepath.Join(directory, "sa.pub")}); err == nil {
		t.Error("a public key was accepted for signing")
	}
	both := []string{filepath.Join(directory, "sa.pub"), filepath.Join(directory, "sa.key")}
	if keys, err := publicKeys(both); err != nil || len(keys) != 2 {
		t.Errorf("keys of two files: %d, %v", len(keys), err)
	}
	if _, err := publicKeys([]string{filepath.Join(directory, "none")}); err == nil {
		t.Error("a missing file was accepted")
	}
}

func TestErrorsAreShownOnce(t *testing.T) {
	t.Parallel()
	var output, errors bytes.Buffer
	if code := Main([]string{"get", "nodes", "--name", "there-is-none"}, &output, &errors); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if got := errors.String(); got != "kogge: there is no cluster \"there-is-none\"\n" {
		t.Errorf("printed %q", got)
	}
	if code := Main([]string{"version"}, &output, &errors); code != 0 || !strings.Contains(output.String(), Version) {
		t.Errorf("version: exit code %d, %q", code, output.String())
	}
}
