package routing

import (
	"math"

	"github.com/cespare/xxhash/v2"
)

// maxWeight is the largest weight that counts, so that products and sums of
// weights fit into 64 bits.
const maxWeight = 1_000_000

// noWeights is the reason for a start that weights should choose and can't.
const noWeights = "first in order: all weights are 0"

// keep finds the member that a session keeps by its affinity. ok is false
// without a session, or if there is nothing to keep.
func keep(a Affinity, options []Option, session string, pin Pin) (index int, why string, ok bool) {
	if session == "" {
		return 0, "", false
	}
	switch a {
	case AffinityNone:
	case AffinityEqual, AffinityWeighted:
		i := rendezvous(options, session, a == AffinityWeighted)
		if i < 0 {
			return 0, noWeights, true
		}
		return i, "the session's hash", true
	case AffinityRemembered:
		for i := range options {
			if options[i].Provider.ID == pin.Start {
				return i, "the session started here", true
			}
		}
	}
	return 0, "", false
}

// rendezvous finds the option that scores highest for a session: -w/ln(u) with
// u from a hash, so that each wins in proportion to its weight, and only the
// sessions of a member that leaves move. The score depends on nothing but the
// session, the provider's name and the weight, thus all replicas agree, also
// after a restart and whatever the order. It is -1 if no option has weight.
func rendezvous(options []Option, session string, byWeight bool) int {
	// No name holds a NUL, so the last one ends the session.
	var prefix xxhash.Digest
	prefix.Reset()
	_, _ = prefix.WriteString(session)
	_, _ = prefix.WriteString("\x00")

	best, high := -1, 0.0
	for i := range options {
		w := 1.0
		if byWeight {
			w = float64(options[i].weight())
		}
		if w == 0 {
			continue
		}
		name := options[i].Provider.ID
		d := prefix
		_, _ = d.WriteString(string(name))
		score := -w / math.Log(unit(d.Sum64()))
		if best < 0 || score > high || score == high && name < options[best].Provider.ID {
			best, high = i, score
		}
	}
	return best
}

// unit maps random bits to a number between 0 and 1 that is neither: the
// logarithm of 0 is infinite, and nothing can be divided by that of 1.
func unit(bits uint64) float64 { return float64(max(bits>>11, 1)) / (1 << 53) }

// weight is the member's weight within the bounds that the arithmetic needs.
func (o *Option) weight() uint64 { return uint64(min(max(o.Weight, 0), maxWeight)) }

// totalWeight is the sum of the options' weights.
func totalWeight(options []Option) uint64 {
	total := uint64(0)
	for i := range options {
		total += options[i].weight()
	}
	return total
}
