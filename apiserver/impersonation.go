package apiserver

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/handlers"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// impersonating lets who may impersonate another act as that one (headers Impersonate-User, -Group, -Uid and -Extra-...).
func (s *Server) impersonating(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		as, asked, err := impersonated(r.Header)
		switch {
		case err != nil:
			handlers.Error(w, r, err)
			return
		case len(asked) == 0:
			next.ServeHTTP(w, r)
			return
		}
		u := request.UserFrom(r.Context())
		for i := range asked {
			if ok, reason := s.authz.Authorize(u, &asked[i]); !ok {
				handlers.Error(w, r, authz.Forbidden(u, &asked[i], reason))
				return
			}
		}
		for name := range r.Header {
			if strings.HasPrefix(name, "Impersonate-") {
				r.Header.Del(name)
			}
		}
		next.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), as)))
	})
}

// impersonated reads whom a request wants to be, and what one must be allowed for it; nothing: nobody else.
func impersonated(h http.Header) (*request.User, []request.Info, error) {
	user, uid, groups := h.Get(authenticationv1.ImpersonateUserHeader), h.Get(authenticationv1.ImpersonateUIDHeader), h.Values(authenticationv1.ImpersonateGroupHeader)
	extra := extras(h)
	if user == "" {
		if len(groups) > 0 || uid != "" || len(extra) > 0 {
			// The text is upstream's, with its name of the type.
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("requested &user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name", "", uid, groups, extra))
		}
		return nil, nil, nil
	}
	ask := func(group, resource, subresource, namespace, name string) request.Info {
		return request.Info{IsResource: true, Verb: "impersonate", Group: group, Version: "v1", Resource: resource, Subresource: subresource, Namespace: namespace, Name: name}
	}
	as := &request.User{Name: user, UID: uid, Groups: slices.Clone(groups), Extra: extra}
	var asked []request.Info
	if namespace, name, ok := authn.SplitSubject(user); ok {
		asked = append(asked, ask("", "serviceaccounts", "", namespace, name))
		if len(groups) == 0 {
			as.Groups = authn.SubjectGroups(namespace)
		}
	} else {
		asked = append(asked, ask("", "users", "", "", user))
	}
	for _, g := range groups {
		asked = append(asked, ask("", "groups", "", "", g))
	}
	for key, values := range extra {
		for _, v := range values {
			asked = append(asked, ask("authentication.k8s.io", "userextras", key, "", v))
		}
	}
	if uid != "" {
		asked = append(asked, ask("authentication.k8s.io", "uids", "", "", uid))
	}
	if user != authn.Anonymous && !slices.Contains(as.Groups, authn.GroupAuthenticated) && !slices.Contains(as.Groups, authn.GroupUnauthenticated) {
		as.Groups = append(as.Groups, authn.GroupAuthenticated)
	}
	if user == authn.Anonymous && !slices.Contains(as.Groups, authn.GroupUnauthenticated) {
		as.Groups = append(as.Groups, authn.GroupUnauthenticated)
	}
	return as, asked, nil
}

// extras are the Impersonate-Extra- headers: keys in lower case, unescaped.
func extras(h http.Header) map[string][]string {
	var out map[string][]string
	for name, values := range h {
		key, ok := strings.CutPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		if out == nil {
			out = map[string][]string{}
		}
		out[key] = append(out[key], values...)
	}
	return out
}
