package image

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// entry is one registry in a docker configuration file.
type entry struct {
	Username      string `json:"username"`
	Password      string `json:"password"`
	Auth          string `json:"auth"`
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

// Credentials returns what the secrets know for an image, the most specific first. Secrets of other types, or that
// can't be read, count as empty: the pull may succeed without them, and fails with a telling error otherwise.
func Credentials(image string, secrets []*v1.Secret) []*runtimeapi.AuthConfig {
	name, _, _ := split(image)
	if registry(name) == "docker.io" {
		name = "docker.io/" + repository(strings.TrimPrefix(name, "docker.io/"))
	}
	type match struct {
		key  string
		auth *runtimeapi.AuthConfig
	}
	var matches []match
	for _, secret := range secrets {
		for key, e := range entries(secret) {
			if covers(key, name) {
				matches = append(matches, match{key, e.config(key)})
			}
		}
	}
	sort.SliceStable(matches, func(i, j int) bool { return len(matches[i].key) > len(matches[j].key) })
	configs := make([]*runtimeapi.AuthConfig, 0, len(matches))
	for _, m := range matches {
		configs = append(configs, m.auth)
	}
	return configs
}

func entries(secret *v1.Secret) map[string]entry {
	var file struct {
		Auths map[string]entry `json:"auths"`
	}
	switch secret.Type {
	case v1.SecretTypeDockerConfigJson:
		if json.Unmarshal(secret.Data[v1.DockerConfigJsonKey], &file) != nil {
			return nil
		}
		return file.Auths
	case v1.SecretTypeDockercfg:
		if json.Unmarshal(secret.Data[v1.DockerConfigKey], &file.Auths) != nil {
			return nil
		}
		return file.Auths
	default:
		return nil
	}
}

func (e entry) config(server string) *runtimeapi.AuthConfig {
	config := &runtimeapi.AuthConfig{
		Username: e.Username, Password: e.Password, IdentityToken: e.IdentityToken, RegistryToken: e.RegistryToken,
		ServerAddress: server,
	}
	if decoded, err := base64.StdEncoding.DecodeString(e.Auth); err == nil && e.Username == "" {
		config.Username, config.Password, _ = strings.Cut(string(decoded), ":")
	}
	return config
}

// covers tells whether a key of a configuration file (host, host/path, https://host/v1/, *.host) is for the image.
func covers(key, name string) bool {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	key = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(key, "/"), "/v1"), "/v2")
	host, path, _ := strings.Cut(key, "/")
	imageHost, imagePath, _ := strings.Cut(name, "/")
	if host == "index.docker.io" {
		host = "docker.io"
	}
	return hostMatches(host, imageHost) && (path == "" || imagePath == path || strings.HasPrefix(imagePath, path+"/"))
}

func hostMatches(pattern, host string) bool {
	patterns, hosts := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(patterns) != len(hosts) {
		return false
	}
	for i := range patterns {
		if patterns[i] != "*" && patterns[i] != hosts[i] {
			return false
		}
	}
	return true
}

// String keeps passwords out of logs.
func (e entry) String() string { return fmt.Sprintf("registry entry of user %q", e.Username) }
