package cache

import "github.com/kogge-dev/kogge/apiserver/internal/store"

// Lend leaves the entries of an image's values with it, for the caches of the stores that begin with it. Values whose entries
// are not at hand are decoded there.
func (c *Cache) Lend(image *store.Image) {
	image.Each(func(kv store.KV) {
		if kv.Made.Load() != nil {
			return
		}
		if col := c.owner(kv.Key); col != nil {
			if e := col.Get(kv.Key); e != nil && e.Revision == kv.Revision {
				remember(kv, e)
			}
		}
	})
}
