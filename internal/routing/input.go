package routing

import (
	"time"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// Input is everything that Decide reads besides the Snapshot.
type Input struct {
	Query Query
	Facts Facts
	// View is the run-time state; nil is a calm one: nothing is broken and
	// nothing was measured.
	View View
	// Dice is the only source of chance and of turns; nil always rolls 0.
	Dice Dice
	// Assume are the what-ifs of a dry run; zero on the live path.
	Assume Assume
}

// Query is what the client asks for.
type Query struct {
	Endpoint *llm.Endpoint
	Model    string
	Stream   bool
	// Session is the hash of the client's session id (see SessionHash); empty
	// without one.
	Session string
	// Tokens estimates the size of the prompt; 0 is unknown.
	Tokens int
	// Tied: only the provider that made what the request refers to can serve
	// it, so one candidate is dialled (RT-FO-2).
	Tied bool
	// LongContext: the client asks for a longer context window than models have
	// by themselves.
	LongContext bool
	// NoFallback: the client wants one candidate dialled (RT-FO-11).
	NoFallback bool
	Caller     Caller
}

// Caller is who asks, as far as it bears on the decision.
type Caller struct {
	// Own: the caller brings a provider's credential of its own.
	Own bool
	// Virtual is the provider for which the caller's key holds a credential
	// that replaces the provider's; empty for none.
	Virtual ProviderID
	// Ceilings restrict what may serve the caller; nil restricts nothing.
	Ceilings *Ceilings
}

// Ceilings restrict what may serve. Each is separate and none widens another.
type Ceilings struct {
	// Providers and Residencies are what is allowed; empty allows all.
	Providers   []ProviderID
	Residencies []string
	// Data is demanded of a provider.
	Data DataHandling
}

// DataHandling is what a provider promises about request data, or what is
// demanded of it: true demands true, and a jurisdiction demands the same one
// without regard to case.
type DataHandling struct {
	ZeroDataRetention bool
	NoPromptTraining  bool
	Jurisdiction      string
}

// Facts are looked up before the decision.
type Facts struct {
	// Now is the time of the decision.
	Now time.Time
	// Pins are what the session has in each route; nil without a session.
	Pins map[RouteID]Pin
}

// Pin is what a session keeps in one route.
type Pin struct {
	// Start is the member that the session started on, for strategies that
	// can't tell it from the session id.
	Start ProviderID `json:"start,omitempty"`
}

// View is a look at the run-time state. It answers from memory, never blocks,
// and looking changes nothing.
type View interface {
	// Health tells about the breaker and the park of a provider.
	Health(ProviderID) Health
	// CoolingUntil is when the rate limit of a deployment ends; zero if it
	// has none.
	CoolingUntil(id ProviderID, wireModel string) time.Time
	// Latency is the 95th percentile of a deployment's live traffic in a
	// window that ends now, and the number of requests in it: for streams the
	// time to first content, else to the end.
	Latency(id ProviderID, wireModel string, stream bool, window time.Duration) (p95 time.Duration, n int)
	// Load is what a deployment is doing.
	Load(id ProviderID, wireModel string) Load
}

// Health is the state of a provider's breaker and park. Times that are past
// count for nothing: the next request may probe then.
type Health struct {
	// OpenUntil is when the breaker lets the next probe through; zero while it
	// is closed.
	OpenUntil time.Time
	// ParkedUntil is when a park for exhausted quota ends.
	ParkedUntil time.Time
	// Probing: a probe is under way, so nobody else is let through.
	Probing bool
	// Limit is how many requests may run at once while the provider recovers;
	// 0 is no limit. Running is how many do.
	Limit, Running int
}

// Load is what a deployment is doing.
type Load struct {
	// InFlight is the number of running requests.
	InFlight int
	// Latency is a moving average; 0 is unknown.
	Latency time.Duration
	// Success is a moving average from 0 to 1; 0 with a Latency of 0 is
	// unknown.
	Success float64
}

// Dice is the source of chance and of turns.
type Dice interface {
	// Draw is a random number.
	Draw() uint64
	// Turn counts the requests of a route that took a turn, from 0.
	Turn(RouteID) uint64
}

// Assume are the what-ifs of a dry run.
type Assume struct {
	// Down and Parked are providers that count as broken, or as out of quota,
	// and NoKey those whose key counts as unreadable.
	Down, Parked, NoKey []ProviderID
}

// calm is the View of nothing, and the Dice that always roll 0.
type calm struct{}

func (calm) Health(ProviderID) Health                  { return Health{} }
func (calm) CoolingUntil(ProviderID, string) time.Time { return time.Time{} }
func (calm) Load(ProviderID, string) Load              { return Load{} }
func (calm) Draw() uint64                              { return 0 }
func (calm) Turn(RouteID) uint64                       { return 0 }
func (calm) Latency(ProviderID, string, bool, time.Duration) (time.Duration, int) {
	return 0, 0
}
