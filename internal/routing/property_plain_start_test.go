package routing

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// start is where the strategy starts (RT-STRAT-…).
func (d *plain) start(members []plainMember) int {
	kind, session := d.route.Strategy.ID(), d.q.Session
	switch kind {
	case "round-robin":
		if session != "" {
			return plainHash(members, session, func(plainMember) float64 { return 1 })
		}
		return int(d.nextTurn() % uint64(len(members)))
	case "weighted", "least-loaded":
		total := 0
		for _, m := range members {
			total += m.Weight
		}
		switch {
		case total == 0:
			return 0
		case session != "":
			return plainHash(members, session, func(m plainMember) float64 { return float64(m.Weight) })
		case kind == "weighted":
			return plainTurn(members, d.nextTurn())
		}
		return d.betterOfTwo(members, uint64(total))
	case "lowest-cost":
		return d.cheapest(members)
	case "lowest-latency":
		return d.quickest(members)
	}
	return 0
}

// nextTurn takes the request's one turn.
func (d *plain) nextTurn() uint64 {
	if d.turn == nil {
		v := d.in.Dice.Turn(d.route.ID)
		d.turn = &v
	}
	return *d.turn
}

// plainHash is rendezvous hashing by -w/ln(u).
func plainHash(members []plainMember, session string, weight func(plainMember) float64) int {
	at, high := 0, math.Inf(-1)
	for i, m := range members {
		u := float64(max(xxhash.Sum64String(session+"\x00"+string(m.Provider.ID))>>11, 1)) / (1 << 53)
		if score := weight(m) / -math.Log(u); weight(m) > 0 && score > high {
			at, high = i, score
		}
	}
	return at
}

// plainTurn writes a whole round down: the k-th turn of a member of weight w
// falls at (k-1/2)/w, and of those at one time the first member goes first.
func plainTurn(members []plainMember, turn uint64) int {
	type slot struct{ num, den, member int }
	var round []slot
	divisor := 0
	gcd := func(a, b int) int {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	for _, m := range members {
		divisor = gcd(m.Weight, divisor)
	}
	for i, m := range members {
		for k := range m.Weight / divisor {
			round = append(round, slot{2*k + 1, m.Weight, i})
		}
	}
	slices.SortStableFunc(round, func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.num*b.den, b.num*a.den), cmp.Compare(a.member, b.member))
	})
	return round[turn%uint64(len(round))].member
}

func (d *plain) cheapest(members []plainMember) int {
	at, low := 0, math.Inf(1)
	for i, m := range members {
		info := d.c.Table.Model(m.Provider.Vendor, m.wire)
		price := math.Round((info.Input + info.Output) * 1e6)
		if info.Priced && info.Input >= 0 && info.Output >= 0 && price < low {
			at, low = i, price
		}
	}
	return at
}

func (d *plain) quickest(members []plainMember) int {
	if pin, ok := d.in.Facts.Pins[d.route.ID]; ok && d.q.Session != "" {
		for i, m := range members {
			if m.Provider.ID == pin.Start {
				return i
			}
		}
	}
	tuning := d.route.Strategy.(lowestLatency).options
	at, low := -1, time.Duration(0)
	var unmeasured []int
	for i, m := range members {
		var p95 time.Duration
		n := 0
		if d.in.View != nil {
			p95, n = d.in.View.Latency(m.Provider.ID, m.wire, d.q.Stream, tuning.Window)
		}
		switch {
		case p95 <= 0 || n < tuning.MinRequests:
			unmeasured = append(unmeasured, i)
		case at < 0 || p95 < low:
			at, low = i, p95
		}
	}
	switch {
	case at < 0:
		return 0
	case len(unmeasured) == 0:
		return at
	}
	if u := float64(max(d.in.Dice.Draw()>>11, 1)) / (1 << 53); u > 1-tuning.Exploration {
		return unmeasured[d.nextTurn()%uint64(len(unmeasured))]
	}
	return at
}

// betterOfTwo draws two members by weight.
func (d *plain) betterOfTwo(members []plainMember, total uint64) int {
	drawn := func(from []int, place uint64) int {
		for _, i := range from {
			w := uint64(members[i].Weight)
			if place < w {
				return i
			}
			place -= w
		}
		panic("a place behind all weights")
	}
	var all []int
	for i := range members {
		all = append(all, i)
	}
	a := drawn(all, d.in.Dice.Draw()%total)
	rest := total - uint64(members[a].Weight)
	if rest == 0 {
		return a
	}
	b := drawn(slices.DeleteFunc(all, func(i int) bool { return i == a }), d.in.Dice.Draw()%rest)
	if d.in.View == nil {
		return a
	}
	if busier(d.in.View.Load(members[a].Provider.ID, members[a].wire), d.in.View.Load(members[b].Provider.ID, members[b].wire)) {
		return b
	}
	return a
}
