package environment

import (
	"errors"
	"fmt"
	"os"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// fromFile reads a variable from a file of a volume, written by an init container (KEP-3721). The file is opened
// below the volume's folder, so that no link in it leads elsewhere.
func (b *builder) fromFile(ref *v1.FileKeySelector) (value string, present bool, err error) {
	optional := isTrue(ref.Optional)
	folder, found := "", false
	if b.sources.VolumePath != nil {
		folder, found = b.sources.VolumePath(ref.VolumeName)
	}
	if !found {
		return "", false, fmt.Errorf("cannot find the volume %q referenced by FileKeyRef", ref.VolumeName)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", false, fmt.Errorf("failed to get host path for volume %q: %w", ref.VolumeName, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	data, err := root.ReadFile(ref.Path)
	if os.IsNotExist(err) && optional {
		return "", false, nil
	}
	if err != nil {
		return "", false, errors.New("couldn't parse env file")
	}
	value, found = parseFile(string(data), ref.Key)
	if !found && !optional {
		return "", false, fmt.Errorf("environment variable key %q not found in file %q", ref.Key, ref.Path)
	}
	return value, found, nil
}

// parseFile finds NAME='value' or NAME=value; lines that begin with # are comments.
func parseFile(text, key string) (string, bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, found := strings.Cut(line, "=")
		if !found || strings.HasPrefix(line, "#") || name != key {
			continue
		}
		if len(value) >= 2 && value[0] == '\'' && value[len(value)-1] == '\'' {
			value = value[1 : len(value)-1]
		}
		return value, true
	}
	return "", false
}
