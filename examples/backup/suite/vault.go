package suite

import (
	"context"
	"sync"
)

// Vault remembers which Backups were forgotten.
type Vault struct {
	mu        sync.Mutex
	forgotten map[string]bool
}

// Forget remembers it.
func (v *Vault) Forget(_ context.Context, namespace, name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.forgotten == nil {
		v.forgotten = map[string]bool{}
	}
	v.forgotten[namespace+"/"+name] = true
	return nil
}

// Forgot says whether the Backup's copies were forgotten.
func (v *Vault) Forgot(namespace, name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.forgotten[namespace+"/"+name]
}
