package routing

import "strconv"

// roundRobin starts on each member in turn, whatever the weights.
type roundRobin struct{}

func (roundRobin) ID() string { return "round-robin" }

func (roundRobin) Affinity() Affinity { return AffinityEqual }

func (roundRobin) Start(options []Option, c *Choice) (int, string) {
	n := uint64(len(options))
	turn := c.Turn() % n
	return int(turn), turnOf(turn, n, "")
}

// turnOf writes a turn, which counts from 0, as people count.
func turnOf(turn, n uint64, suffix string) string {
	var buf [64]byte
	b := strconv.AppendUint(append(buf[:0], "turn "...), turn+1, 10)
	b = strconv.AppendUint(append(b, " of "...), n, 10)
	return string(append(b, suffix...))
}
