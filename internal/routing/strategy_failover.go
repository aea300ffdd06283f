package routing

// failover starts every request on the first member.
type failover struct{}

func (failover) ID() string { return "failover" }

func (failover) Affinity() Affinity { return AffinityNone }

func (failover) Start([]Option, *Choice) (int, string) { return 0, "first in order" }
