package image

import (
	"fmt"
	"regexp"
	"strings"
)

// The grammar of image names is that of the distribution project: [domain/]path[:tag][@digest].
var (
	namePattern = regexp.MustCompile(`^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]+)?/|\[[a-fA-F0-9:]+\](?::[0-9]+)?/)?` +
		`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagPattern    = regexp.MustCompile(`^[\w][\w.-]{0,127}$`)
	digestPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$`)
)

// WithTag returns the name with the tag latest, unless it has a tag or a digest. The error of a name that can't be
// one has upstream's text.
func WithTag(image string) (string, error) {
	name, tag, digest := split(image)
	switch {
	case !namePattern.MatchString(name) && namePattern.MatchString(strings.ToLower(name)):
		return "", fmt.Errorf("couldn't parse image name %q: invalid reference format: repository name (%s) must be lowercase", image, repository(name))
	case !namePattern.MatchString(name), tag != nil && !tagPattern.MatchString(*tag),
		digest != nil && !digestPattern.MatchString(*digest):
		return "", fmt.Errorf("couldn't parse image name %q: invalid reference format", image)
	case tag == nil && digest == nil:
		return image + ":latest", nil
	default:
		return image, nil
	}
}

// split cuts a name into its parts; a part that isn't there is nil.
func split(image string) (name string, tag, digest *string) {
	name, after, found := strings.Cut(image, "@")
	if found {
		digest = &after
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		text := name[i+1:]
		name, tag = name[:i], &text
	}
	return name, tag, digest
}

// repository is the path part of a name, with the folder that short names of the default registry have.
func repository(name string) string {
	domain, path, found := strings.Cut(name, "/")
	switch {
	case !found:
		return "library/" + name
	case strings.ContainsAny(domain, ".:") || domain == "localhost":
		return path
	default:
		return name
	}
}

// registry is the host that a name belongs to.
func registry(name string) string {
	domain, _, found := strings.Cut(name, "/")
	if found && (strings.ContainsAny(domain, ".:") || domain == "localhost") {
		return domain
	}
	return "docker.io"
}
