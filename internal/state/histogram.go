package state

import (
	"math"
	"math/bits"
	"time"
)

// Buckets of a histogram: four per power of two of nanoseconds, each 19 %
// wide, so that the middle of a bucket is within 9.1 % of what is in it. The
// first one also takes what is shorter, the last one (73 minutes) what is
// longer.
const (
	perOctave   = 4
	firstOctave = 14 // 16 µs
	lastOctave  = 41 // below 2^42 ns
	buckets     = (lastOctave - firstOctave + 1) * perOctave
)

// Within an octave buckets begin at these parts of its start, in 1/2^16:
// powers of the fourth root of 2.
const (
	quarter  = 77936
	half     = 92682
	quarters = 110218
)

// bucket finds the bucket of a duration above 0.
func bucket(d time.Duration) int {
	octave := bits.Len64(uint64(d)) - 1
	switch {
	case octave < firstOctave:
		return 0
	case octave > lastOctave:
		return buckets - 1
	}
	i := (octave - firstOctave) * perOctave
	switch part := uint64(d) << 16 >> octave; {
	case part >= quarters:
		return i + 3
	case part >= half:
		return i + 2
	case part >= quarter:
		return i + 1
	}
	return i
}

// middle is the duration that stands for a bucket.
func middle(bucket int) time.Duration {
	return time.Duration(math.Exp2(firstOctave + (float64(bucket)+0.5)/perOctave))
}

// histogram counts durations by bucket.
type histogram struct {
	n      int
	counts [buckets]uint32
}

// quantile is the duration that a share of all is not above; 0 if empty.
func (h *histogram) quantile(share float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := max(int(math.Ceil(share*float64(h.n)-1e-9)), 1)
	for i, c := range h.counts {
		if rank -= int(c); rank <= 0 {
			return middle(i)
		}
	}
	return middle(buckets - 1)
}

func (h *histogram) merge(o *histogram) {
	h.n += o.n
	for i, c := range o.counts {
		h.counts[i] += c
	}
}

// packed is a histogram that is complete: most minutes fill few buckets. The
// bucket is in the upper 8 bits, its count in the others.
type packed []uint32

const packedMax = 1<<24 - 1

func (h *histogram) pack() packed {
	used := 0
	for _, c := range h.counts {
		if c > 0 {
			used++
		}
	}
	out := make(packed, 0, used)
	for i, c := range h.counts {
		if c > 0 {
			out = append(out, uint32(i)<<24|min(c, packedMax))
		}
	}
	return out
}

func (h *histogram) unpack(p packed) {
	for _, v := range p {
		c := v & packedMax
		h.counts[v>>24] += c
		h.n += int(c)
	}
}
