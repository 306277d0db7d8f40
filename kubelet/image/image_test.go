package image

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestWithTag(t *testing.T) {
	t.Parallel()
	digest := "@sha256:0123456789012345678901234567890123456789012345678901234567890123"
	for image, want := range map[string]string{
		"nginx": "nginx:latest", "nginx:1": "nginx:1", "a/b": "a/b:latest", "host:5000/a": "host:5000/a:latest",
		"host:5000/a:v1": "host:5000/a:v1", "nginx" + digest: "nginx" + digest, "nginx:1" + digest: "nginx:1" + digest,
	} {
		if got, err := WithTag(image); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", image, got, err, want)
		}
	}
	for image, want := range map[string]string{
		"":        `couldn't parse image name "": invalid reference format`,
		"a b":     `couldn't parse image name "a b": invalid reference format`,
		"Foo":     `couldn't parse image name "Foo": invalid reference format: repository name (library/Foo) must be lowercase`,
		"a:":      `couldn't parse image name "a:": invalid reference format`,
		"a@sha:1": `couldn't parse image name "a@sha:1": invalid reference format`,
	} {
		if _, err := WithTag(image); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", image, err, want)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	secret := &v1.Secret{Type: v1.SecretTypeDockerConfigJson, Data: map[string][]byte{v1.DockerConfigJsonKey: []byte(`{"auths": {
		"https://index.docker.io/v1/": {"auth": "aHViOnB3"}, "registry.test": {"username": "all", "password": "p"},
		"registry.test/team": {"username": "team", "password": "p"}, "*.cloud.test": {"username": "cloud", "password": "p"}}}`)}}
	for image, want := range map[string][]string{
		"nginx": {"hub"}, "registry.test/x:1": {"all"}, "registry.test/team/x:1": {"team", "all"}, "registry.test/teams/x": {"all"},
		"eu.cloud.test/x": {"cloud"}, "a.eu.cloud.test/x": nil, "other.test/x": nil,
	} {
		got := Credentials(image, []*v1.Secret{secret, {Type: v1.SecretTypeOpaque}})
		if len(got) != len(want) {
			t.Errorf("%s: %d credentials, want %v", image, len(got), want)
			continue
		}
		for i := range want {
			if got[i].Username != want[i] {
				t.Errorf("%s: user %q, want %q", image, got[i].Username, want[i])
			}
		}
	}
}
