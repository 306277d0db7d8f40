package nodeipam

import (
	"encoding/binary"
	"net/netip"
)

// parts is how many prefixes of the given length the cluster's range holds.
func parts(cluster netip.Prefix, bits int) uint64 {
	if bits < cluster.Bits() || bits-cluster.Bits() > 32 {
		return 0
	}
	return 1 << (bits - cluster.Bits())
}

// part is the number-th prefix of the given length within the cluster's range.
func part(cluster netip.Prefix, bits int, number uint64) netip.Prefix {
	base := cluster.Masked().Addr().As16()
	width := 128
	if cluster.Addr().Is4() {
		width = 32
	}
	addTo(&base, number, width-bits)
	addr := netip.AddrFrom16(base)
	if cluster.Addr().Is4() {
		addr = addr.Unmap()
	}
	return netip.PrefixFrom(addr, bits)
}

// addTo adds number shifted left by shift bits to a 128-bit number.
func addTo(base *[16]byte, number uint64, shift int) {
	high, low := binary.BigEndian.Uint64(base[:8]), binary.BigEndian.Uint64(base[8:])
	switch {
	case shift >= 64:
		high += number << (shift - 64)
	default:
		sum := low + number<<shift
		if sum < low {
			high++
		}
		if shift > 0 {
			high += number >> (64 - shift)
		}
		low = sum
	}
	binary.BigEndian.PutUint64(base[:8], high)
	binary.BigEndian.PutUint64(base[8:], low)
}

// Next gives the first free part of the range at or after the number-th, going round at
// the end, and the number to go on from. ok is false when all are taken. taken may hold
// prefixes of any length, of this range or not.
func Next(cluster netip.Prefix, bits int, taken []netip.Prefix, from uint64) (free netip.Prefix, next uint64, ok bool) {
	count := parts(cluster, bits)
	for i := range count {
		number := (from + i) % count
		candidate := part(cluster, bits, number)
		if !overlapsAny(candidate, taken) {
			return candidate, (number + 1) % count, true
		}
	}
	return netip.Prefix{}, from, false
}

func overlapsAny(candidate netip.Prefix, taken []netip.Prefix) bool {
	for _, other := range taken {
		if candidate.Overlaps(other) {
			return true
		}
	}
	return false
}
