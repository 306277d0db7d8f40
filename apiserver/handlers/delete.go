package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// deleteWorkers is how many objects of a collection are deleted at once.
const deleteWorkers = 16

// delete ends an object.
func (s *Scope) delete(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	o, err := s.deleteOptions(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if ptr.Deref(o.IgnoreStoreReadErrorWithClusterBreakingPotential, false) {
		s.deleteUnreadable(w, r.WithContext(ctx), out, len(o.DryRun) > 0)
		return
	}
	if why := s.undeletable(s.Info.Name); why != nil {
		s.fail(w, r, why)
		return
	}
	s.warnOfOrphans(ctx, o)
	d, err := s.Registry.Delete(ctx, s.Info.Namespace, s.Info.Name, o, len(o.DryRun) > 0)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	code := http.StatusOK
	if !d.Gone && o.OrphanDependents != nil && !*o.OrphanDependents {
		code = http.StatusAccepted
	}
	if !d.Gone || s.Resource.ReturnDeleted {
		s.object(w, r, code, out, &registry.Result{Object: d.Object})
		return
	}
	status := &metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{
		Name: d.Object.GetName(), Group: s.Resource.Group, Kind: s.Resource.Plural, UID: d.Object.GetUID(),
	}}
	writeMeta(w, r, code, out, statusGVK, status)
}

// deleteUnreadable removes an object that can't be read, for who may.
func (s *Scope) deleteUnreadable(w http.ResponseWriter, r *http.Request, out negotiation.Output, dryRun bool) {
	u, i := request.UserFrom(r.Context()), *s.Info
	i.Verb = "unsafe-delete-ignore-read-errors"
	if ok, reason := s.handlers.Authorizer.Authorize(u, &i); !ok {
		s.fail(w, r, apierrors.NewForbidden(s.Resource.GR(), s.Info.Name, fmt.Errorf("not permitted to do %q, reason: %s", i.Verb, reason)))
		return
	}
	if err := s.Registry.DeleteUnreadable(r.Context(), s.Info.Namespace, s.Info.Name, dryRun); err != nil {
		s.fail(w, r, err)
		return
	}
	writeMeta(w, r, http.StatusOK, out, statusGVK, &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusOK,
		Details: &metav1.StatusDetails{Name: s.Info.Name, Group: s.Resource.Group, Kind: s.Resource.Kind}})
}

// warnOfOrphans tells what the kind has to say to a deletion that leaves open what becomes of dependents.
func (s *Scope) warnOfOrphans(ctx context.Context, o *metav1.DeleteOptions) {
	if s.Resource.OrphanWarning != "" && o.PropagationPolicy == nil && o.OrphanDependents == nil {
		request.Warn(ctx, s.Resource.OrphanWarning)
	}
}

// undeletable says why an object must stay, or nothing.
func (s *Scope) undeletable(name string) error {
	if s.Resource.Undeletable == nil {
		return nil
	}
	if why := s.Resource.Undeletable(name); why != "" {
		return apierrors.NewForbidden(s.Resource.GR(), name, errors.New(why))
	}
	return nil
}

// deleteCollection deletes what the selectors select and answers with the list of it.
func (s *Scope) deleteCollection(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	lo, err := s.listOptions(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	o, err := s.deleteOptions(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if ptr.Deref(o.IgnoreStoreReadErrorWithClusterBreakingPotential, false) {
		s.fail(w, r, apierrors.NewInvalid(metaKind("DeleteOptions"), "", field.ErrorList{field.Invalid(field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential"), true,
			"is not allowed with DELETECOLLECTION, try again after removing the option")}))
		return
	}
	l, err := s.Registry.List(ctx, s.Info.Namespace, lo)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.warnOfOrphans(ctx, o)
	if err := s.deleteAll(ctx, l, o); err != nil {
		s.fail(w, r, err)
		return
	}
	s.answerList(w, r, out, l)
}

// deleteAll deletes the objects of a list, several at once. One that is gone already is no error.
func (s *Scope) deleteAll(ctx context.Context, l *registry.List, o *metav1.DeleteOptions) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	names := make(chan int)
	var workers sync.WaitGroup
	for range min(deleteWorkers, len(l.Entries)) {
		workers.Go(func() {
			for i := range names {
				e := l.Entries[i]
				_, err := s.Registry.DeleteAsked(ctx, e.Namespace, e.Name, o, len(o.DryRun) > 0, registry.InCollection)
				if err != nil && !apierrors.IsNotFound(err) {
					cancel(err)
				}
			}
		})
	}
	for i := range l.Entries {
		select {
		case names <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(names)
	workers.Wait()
	return context.Cause(ctx)
}
