package stages

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// A cast is what a reflector fills.
var _ cache.ReflectorStore = (*cast)(nil)

// Add implements cache.ReflectorStore.
func (c *cast) Add(o any) error {
	if u, ok := o.(*unstructured.Unstructured); ok {
		c.noteAddress(u.Object)
		c.see(u.Object)
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (c *cast) Update(o any) error { return c.Add(o) }

// Delete implements cache.ReflectorStore.
func (c *cast) Delete(o any) error {
	if u, ok := o.(*unstructured.Unstructured); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.forget(keyOf(u.Object))
	}
	return nil
}

// forget drops an object that is no more. The caller holds mu.
func (c *cast) forget(key string) {
	if p := c.parts[key]; p != nil {
		c.player.world.addresses.free(p.uid)
		delete(c.parts, key)
	}
}

// Replace implements cache.ReflectorStore. All addresses are known before the first is given.
func (c *cast) Replace(all []any, _ string) error {
	there := map[string]bool{}
	for _, o := range all {
		if u, ok := o.(*unstructured.Unstructured); ok {
			there[keyOf(u.Object)] = true
			c.noteAddress(u.Object)
		}
	}
	c.mu.Lock()
	for key := range c.parts {
		if !there[key] {
			c.forget(key)
		}
	}
	c.mu.Unlock()
	for _, o := range all {
		if u, ok := o.(*unstructured.Unstructured); ok {
			c.see(u.Object)
		}
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (c *cast) Resync() error { return nil }
