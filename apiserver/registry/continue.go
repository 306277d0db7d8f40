package registry

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// tokenVersion is the only form of continue token that is understood.
const tokenVersion = "meta.k8s.io/v1"

// anyRevision in a token continues at whatever the present state is.
const anyRevision = -1

// continueToken is a continue token's content. It is upstream's, so that a list may go on at a genuine server; errors name the type.
type continueToken struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"`
}

// encodeToken makes the token that continues after a key.
func encodeToken(lastKey, prefix string, revision int64) (string, error) {
	b, err := json.Marshal(continueToken{Version: tokenVersion, Revision: revision, Start: strings.TrimPrefix(lastKey, prefix) + "\x00"})
	return base64.RawURLEncoding.EncodeToString(b), err
}

// decodeToken reads a token that a client sent. The key is always inside the prefix.
func decodeToken(s, prefix string) (key string, revision int64, err error) {
	t, err := parseToken(s)
	if err != nil {
		return "", 0, apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: continue key is not valid%v", err))
	}
	return prefix + strings.TrimPrefix(t.Start, "/"), t.Revision, nil
}

func parseToken(s string) (t continueToken, err error) {
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return t, fmt.Errorf(": %w", err)
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf(": %w", err)
	}
	switch {
	case t.Version != tokenVersion:
		return t, fmt.Errorf(": server does not recognize this encoded version %s", t.Version)
	case t.Revision == 0:
		return t, fmt.Errorf(": incorrect encoded start resourceVersion (version %s)", tokenVersion)
	case t.Start == "":
		return t, fmt.Errorf(": encoded start key empty (version %s)", tokenVersion)
	}
	// A cleaned path that equals the given one can't climb out of the prefix.
	if rooted := "/" + strings.TrimPrefix(t.Start, "/"); path.Clean(rooted) != rooted {
		return t, fmt.Errorf(": %s", t.Start)
	}
	return t, nil
}
