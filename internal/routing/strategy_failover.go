package routing

// failover starts every request on the first member.
type failover struct{}

func (failover) ID() string { return "failover" }

func (failover) Start([]Member, *Route, *Input) (int, string) { return 0, "first in order" }
