package routing

// Strategy picks the member that a new session starts on; the others follow
// in member order, fallback-only ones last.
type Strategy interface {
	// ID is the public name, such as "failover".
	ID() string
	// Start returns an index into ms and the reason. ms is never empty.
	Start(ms []Member, r *Route, in *Input) (index int, why string)
}

// StrategyKind describes a strategy to everything that lists or makes one.
type StrategyKind struct {
	ID    string
	Title string
	New   func() Strategy
}

// Strategies lists the strategies that exist, one line each.
func Strategies() []StrategyKind {
	return []StrategyKind{
		{ID: "failover", Title: "Failover: members in order", New: func() Strategy { return failover{} }},
	}
}

// StrategyByID finds a strategy; an empty id is the default, failover.
func StrategyByID(id string) (StrategyKind, bool) {
	if id == "" {
		id = "failover"
	}
	for _, k := range Strategies() {
		if k.ID == id {
			return k, true
		}
	}
	return StrategyKind{}, false
}
