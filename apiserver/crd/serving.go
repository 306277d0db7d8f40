package crd

import (
	"context"
	"errors"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"sync"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/apiextensions"
)

// serving is what is served of a definition.
type serving struct {
	*definition
	gvrs   []schema.GroupVersionResource
	stored *registry.Registry
	shown  bool // in discovery
	ending *atomic.Bool
}

// serve makes a definition's resources and puts them in place of what was served of it before.
func (c *Controller) serve(ctx context.Context, crd *customResourceDefinition) error {
	old := c.served[crd.Name]
	shown := apiextensions.IsTrue(crd, apiextensionsv1.Established)
	if old != nil && servedAlike(old.crd, crd) {
		if now := ending(crd); now != old.ending.Load() || shown != old.shown {
			old.ending.Store(now)
			old.shown = shown
			c.Discovery.Swap(old.gvrs, old.resources(verbsOf(crd))...)
			c.publishAll(old)
		}
		return nil
	}
	d, err := newDefinition(crd, c.Callout)
	if err != nil {
		return err
	}
	s := &serving{definition: d, ending: &atomic.Bool{}, shown: shown}
	s.ending.Store(ending(crd))
	if err := c.Cache.Add(ctx, d.prefix(), registry.NewCodec(d.stored.resource(allVerbs))); err != nil {
		return err
	}
	registries, err := c.registries(s)
	if err != nil {
		return err
	}
	var gone []schema.GroupVersionResource
	if old != nil {
		gone = old.gvrs
	}
	c.served[crd.Name] = s
	c.Handlers.Swap(gone, registries...)
	c.Discovery.Swap(gone, s.resources(verbsOf(crd))...)
	c.publishAll(old, s)
	return nil
}

// withdraw ends what is served of a definition, and every watch of it.
func (c *Controller) withdraw(name string) {
	s := c.served[name]
	if s == nil {
		return
	}
	delete(c.served, name)
	c.Handlers.Swap(s.gvrs)
	c.Discovery.Swap(s.gvrs)
	c.publishAll(s)
	c.Cache.Remove(s.prefix())
}

// publishAll has the documents that servings are in made anew.
func (c *Controller) publishAll(of ...*serving) {
	gvs := map[schema.GroupVersion]bool{}
	for _, s := range of {
		s.groupVersions(gvs)
	}
	c.publish(gvs)
}

func verbsOf(crd *customResourceDefinition) []string {
	if ending(crd) {
		return endingVerbs
	}
	return allVerbs
}

// resources are those of the served versions, as discovery shows them; none before the definition is established.
func (s *serving) resources(verbs []string) []*resource.Resource {
	var out []*resource.Resource
	for i := range s.crd.Spec.Versions {
		if v := s.versions[s.crd.Spec.Versions[i].Name]; v.spec.Served && s.shown {
			out = append(out, v.resource(verbs))
		}
	}
	return out
}

// registries makes one for each served version, and one that deletes objects where the stored version is not served.
func (c *Controller) registries(s *serving) ([]*registry.Registry, error) {
	managers := &registry.Managers{Types: lazyTypes{sync.OnceValue(s.fieldTypes)}, Converter: converter{s.definition}}
	var out []*registry.Registry
	other := 0
	for i := range s.crd.Spec.Versions {
		v := s.versions[s.crd.Spec.Versions[i].Name]
		if !v.spec.Served && v != s.definition.stored {
			continue
		}
		if v != s.definition.stored {
			other++
		}
		o := registry.Options{Resource: v.resource(allVerbs), Store: c.Store, Cache: c.Cache, Managers: managers, Now: c.Now, Unkept: other > 1,
			Admission: endingAdmission{c.Admission, s.ending}}
		o.Codec = c.Cache.Collection(o.Resource.Prefix).Codec().(registry.Codec)
		r, err := registry.New(o)
		if err != nil {
			return nil, err
		}
		if v == s.definition.stored {
			s.stored = r
		}
		if v.spec.Served {
			s.gvrs = append(s.gvrs, r.Resource.GVR())
			out = append(out, r)
		}
	}
	return out, nil
}

// lazyTypes makes the schema for server-side apply when the first write needs it.
type lazyTypes struct {
	get func() managedfields.TypeConverter
}

func (l lazyTypes) ObjectToTyped(o runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return l.get().ObjectToTyped(o, opts...)
}

func (l lazyTypes) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return l.get().TypedToObject(v)
}

// endingAdmission lets nothing be created while the definition ends.
type endingAdmission struct {
	registry.Admission
	ending *atomic.Bool
}

// Mutate refuses what is new, or passes on.
func (e endingAdmission) Mutate(ctx context.Context, a *registry.Attributes) error {
	if a.Operation == registry.Create && e.ending.Load() {
		return apierrors.NewForbidden(a.Resource.GR(), a.Name, errors.New("create not allowed while custom resource definition is terminating"))
	}
	return e.Admission.Mutate(ctx, a)
}
