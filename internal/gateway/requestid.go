package gateway

import (
	"math/rand/v2"
	"time"
)

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// newRequestID makes a ULID: 48 bits of milliseconds and 80 random bits, in
// Crockford's base 32, so that ids sort by time.
func newRequestID(now time.Time) string {
	var b [26]byte
	ms := uint64(now.UnixMilli())
	for i := 9; i >= 0; i-- {
		b[i] = crockford[ms&31]
		ms >>= 5
	}
	for half := range 2 {
		r := rand.Uint64() //nolint:gosec // an id has to be unique, not secret
		for i := range 8 {
			b[10+8*half+i] = crockford[r&31]
			r >>= 5
		}
	}
	return string(b[:])
}
