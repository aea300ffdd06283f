package routing

import "time"

// Strategy picks the member that a new session starts on; the others follow
// in member order, fallback-only ones last.
type Strategy interface {
	// ID is the public name, such as "failover".
	ID() string
	// Affinity says how a session keeps its member. Decide sees to it before
	// it asks for a start.
	Affinity() Affinity
	// Start returns an index into options, which is never empty, and the
	// reason in a few words. All options are equally healthy, of one priority
	// and not fallback-only.
	Start(options []Option, c *Choice) (index int, why string)
}

// Affinity is how a session keeps its member.
type Affinity uint8

const (
	// AffinityNone says that the start does not depend on the session.
	AffinityNone Affinity = iota
	// AffinityEqual is rendezvous hashing with equal weights.
	AffinityEqual
	// AffinityWeighted is rendezvous hashing by the members' weights.
	AffinityWeighted
	// AffinityRemembered says that the start is remembered in the session's Pin.
	AffinityRemembered
)

// Option is a member that could serve the request.
type Option struct {
	Member
	// Index is the member's place in its route.
	Index      int
	WireModel  string
	Credential Credential
	// Fallback marks a member that serves, with its own key, only after those
	// that take the caller's credential.
	Fallback bool
	State    State
	// Until is when State ends; zero when it is healthy or not known.
	Until time.Time

	why string
}

// Choice is what a strategy may look at.
type Choice struct {
	Route *Route
	Query *Query
	Now   time.Time
	View  View
	// Models tells what models cost.
	Models ModelTable

	dice   Dice
	turn   uint64
	turned bool
}

// Turn is the number of the turn that this request has in its route. A request
// takes one turn, however often it is asked for. Requests that use no model,
// such as counts of tokens, have turns of their own: where a client counts
// before each message, all messages would go to the same member.
func (c *Choice) Turn() uint64 {
	if !c.turned {
		id := c.Route.ID
		if !c.Query.Endpoint.Counts {
			id += "#" + RouteID(c.Query.Endpoint.ID)
		}
		c.turn, c.turned = c.dice.Turn(id), true
	}
	return c.turn
}

// Draw is a random number.
func (c *Choice) Draw() uint64 { return c.dice.Draw() }

// StrategyOptions are the options of all strategies, defaults filled in.
type StrategyOptions struct {
	// Window is how far back lowest-latency looks: 1 minute to a day.
	Window time.Duration
	// MinRequests is how many requests make a member measured: 1 to
	// 1,000,000.
	MinRequests int
	// Exploration is the share of new sessions that start on a member that
	// is not measured: 0 to 0.5.
	Exploration float64
}

// DefaultStrategyOptions are the defaults of the options.
func DefaultStrategyOptions() StrategyOptions {
	return StrategyOptions{Window: 15 * time.Minute, MinRequests: 20, Exploration: 0.05}
}

// StrategyKind describes a strategy to everything that lists or makes one.
type StrategyKind struct {
	ID    string
	Title string
	New   func(StrategyOptions) Strategy
}

// Strategies lists the strategies that exist, one line each.
func Strategies() []StrategyKind {
	return []StrategyKind{
		{ID: "failover", Title: "Failover: members in order", New: func(StrategyOptions) Strategy { return failover{} }},
		{ID: "round-robin", Title: "Round robin: each member in turn", New: func(StrategyOptions) Strategy { return roundRobin{} }},
		{ID: "weighted", Title: "Weighted: in proportion to weights", New: func(StrategyOptions) Strategy { return weighted{} }},
		{ID: "lowest-cost", Title: "Lowest cost: the cheapest model first", New: func(StrategyOptions) Strategy { return lowestCost{} }},
		{ID: "lowest-latency", Title: "Lowest latency: the quickest member of late", New: func(o StrategyOptions) Strategy { return lowestLatency{o} }},
		{ID: "least-loaded", Title: "Least loaded: the better of two drawn members", New: func(StrategyOptions) Strategy { return leastLoaded{} }},
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
