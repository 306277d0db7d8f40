package handlers

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// get answers with one object.
func (s *Scope) get(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	o := &metav1.GetOptions{}
	if len(r.URL.RawQuery) > 0 {
		if err := parameters(r, o); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	res, err := s.Registry.Get(ctx, s.Info.Namespace, s.Info.Name, o.ResourceVersion)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.object(w, r, http.StatusOK, out, res)
}
