package revision

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/dump"
)

// TemplateHash is the value of the pod-template-hash label. It must be upstream's
// to the letter, or a Deployment taken over from a genuine control plane would roll
// out anew: FNV-1a over a dump of the template, then the collision count as eight
// little-endian bytes, written with letters that spell no words.
func TemplateHash(template *corev1.PodTemplateSpec, collisions *int32) string {
	hasher := fnv.New32a()
	// Writing to a hash never fails.
	_, _ = hasher.Write([]byte(dump.ForHash(*template)))
	if collisions != nil {
		var count [8]byte
		binary.LittleEndian.PutUint32(count[:], uint32(*collisions))
		_, _ = hasher.Write(count[:])
	}
	return rand.SafeEncodeString(fmt.Sprint(hasher.Sum32()))
}

// DataHash is the hash of a stored patch by which StatefulSets name their revisions:
// FNV-1 over its bytes, then the collision count in digits.
func DataHash(data []byte, collisions *int32) string {
	hasher := fnv.New32()
	// Writing to a hash never fails.
	_, _ = hasher.Write(data)
	if collisions != nil {
		_, _ = hasher.Write([]byte(strconv.FormatInt(int64(*collisions), 10)))
	}
	return rand.SafeEncodeString(fmt.Sprint(hasher.Sum32()))
}
