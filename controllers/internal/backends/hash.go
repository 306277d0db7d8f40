package backends

import (
	"hash/fnv"

	"k8s.io/utils/dump"
)

// ContentHash is upstream's measure for the order of ports and subsets: FNV-1a, 128 bits,
// over a dump of the object, pointers followed.
func ContentHash(object any) []byte {
	hasher := fnv.New128a()
	// Writing to a hash never fails.
	_, _ = hasher.Write([]byte(dump.ForHash(object)))
	return hasher.Sum(nil)
}
