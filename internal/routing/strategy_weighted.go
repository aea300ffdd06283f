package routing

// weighted starts on members in proportion to their weights.
type weighted struct{}

func (weighted) ID() string { return "weighted" }

func (weighted) Affinity() Affinity { return AffinityWeighted }

func (weighted) Start(options []Option, c *Choice) (int, string) {
	var buf [16]share
	shares, round := sharesOf(buf[:0], options)
	if round == 0 {
		return 0, noWeights
	}
	turn := c.Turn() % round
	return smooth(shares, round, turn), turnOf(turn, round, " by weight")
}

// share is what one member has of a round of turns.
type share struct {
	index  int
	weight uint64 // the member's turns in a round
	picks  uint64 // those that it had
}

// sharesOf appends a share for each option with weight, in order and in lowest
// terms, and adds up the turns of a round.
func sharesOf(shares []share, options []Option) (_ []share, round uint64) {
	divisor := uint64(0)
	for i := range options {
		w := options[i].weight()
		if w == 0 {
			continue
		}
		shares = append(shares, share{index: i, weight: w})
		for divisor, w = w, divisor; w != 0; { // Euclid
			divisor, w = w, divisor%w
		}
	}
	for i := range shares {
		shares[i].weight /= divisor
		round += shares[i].weight
	}
	return shares, round
}

// smooth finds whose turn the n-th of a round is, counted from 0. A round takes
// one unit of time; a member's k-th pick falls at (k-1/2)/weight, so its picks
// are spread evenly. Turns are the picks by time, then in member order
// (apportionment by Webster). Nothing is kept between requests: whoever knows
// the number of the turn knows the member.
//
// By the time t, a member had t·weight picks, rounded to the nearest, and all
// of them t·round, give or take half a pick each. So only a few steps are left
// from a time that is half a turn for each member early, however long the round.
func smooth(shares []share, round, n uint64) int {
	early := n - min(n, uint64(len(shares)+1)/2)
	done := uint64(0)
	for i := range shares {
		s := &shares[i]
		s.picks = (2*early*s.weight + round) / (2 * round)
		done += s.picks
	}
	for {
		next := &shares[0]
		for i := range shares {
			if s := &shares[i]; (2*s.picks+1)*next.weight < (2*next.picks+1)*s.weight {
				next = s
			}
		}
		if done == n {
			return next.index
		}
		next.picks++
		done++
	}
}
