package handlers

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/negotiation"
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
	if out.Shape == negotiation.PartialMetadata && out.As.Kind == "PartialObjectMetadataList" {
		s.fail(w, r, negotiation.NotShaped(fmt.Sprintf("you requested PartialObjectMetadataList, but the requested object is not a list (*%s.%s)", s.internal(), s.Resource.Kind)))
		return
	}
	res, err := s.Registry.Get(ctx, s.Info.Namespace, s.Info.Name, o.ResourceVersion)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.object(w, r, http.StatusOK, out, res)
}
