package dryrun_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/dryrun"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/upstream/drivers"
	"github.com/interlock-gateway/interlock/internal/wire"
)

// compile makes a configuration of objects.
func compile(t *testing.T, objects ...resource.Object) *snapshot.Live {
	t.Helper()
	vendors, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	docs := make([]resource.Document, len(objects))
	for i, o := range objects {
		docs[i] = resource.Document{Object: o}
	}
	live, problems := snapshot.Compile(docs, snapshot.Deps{
		Revision: 7, Catalog: vendors, Drivers: drivers.All(),
		Resolve: func(_ resource.Object, ref string) (secret.String, error) { return secret.New(ref), nil },
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return live
}

func provider(name, key string) *resource.Provider {
	return &resource.Provider{Meta: resource.Meta{Kind: "Provider", Name: name}, Type: resource.TypeAnthropic, APIKey: key}
}

func route(name, pattern string, members ...string) *resource.Route {
	r := &resource.Route{Meta: resource.Meta{Kind: "Route", Name: name}, ModelPatterns: []string{pattern}}
	for _, m := range members {
		r.Members = append(r.Members, resource.Member{Provider: m})
	}
	return r
}

// board is a state in which turns are counted.
type board struct {
	routing.View
	turns, peeked int
}

func (b *board) Peek(routing.RouteID) uint64 { b.peeked++; return uint64(b.turns) }

// calm is a View of nothing.
type calm struct{}

func (calm) Health(routing.ProviderID) routing.Health          { return routing.Health{} }
func (calm) CoolingUntil(routing.ProviderID, string) time.Time { return time.Time{} }
func (calm) Load(routing.ProviderID, string) routing.Load      { return routing.Load{} }
func (calm) Latency(routing.ProviderID, string, bool, time.Duration) (time.Duration, int) {
	return 0, 0
}

// BY-2: the turn is looked at and not taken, and pins are asked for under the
// name that the gateway gives them.
func TestBY_2_asking_changes_nothing(t *testing.T) {
	r := route("r", "m-*", "a", "b")
	r.Strategy = &resource.Strategy{Type: "round-robin"}
	b := &board{View: calm{}, turns: 3}
	var asked []string
	w := dryrun.World{Live: compile(t, provider("a", "sk-ant-a"), provider("b", "sk-ant-b"), r), Board: b, Now: time.Unix(1, 0), Pins: func(_ context.Context, s string) (map[routing.RouteID]routing.Pin, error) {
		asked = append(asked, s)
		return nil, nil
	}}
	for range 3 {
		a, err := dryrun.Resolve(t.Context(), w, &dryrun.Request{Model: "m-1"})
		if err != nil || a.Candidates[0].Provider != "b" || b.peeked == 0 {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if _, err := dryrun.Resolve(t.Context(), w, &dryrun.Request{Model: "m-1", Session: "s"}); err != nil || len(asked) != 1 || !strings.HasPrefix(asked[0], "/") || len(asked[0]) != 33 {
		t.Errorf("%v, %v", asked, err)
	}
	w.Pins = func(context.Context, string) (map[routing.RouteID]routing.Pin, error) { return nil, errors.New("away") }
	if _, err := dryrun.Resolve(t.Context(), w, &dryrun.Request{Model: "m-1", Session: "s"}); err == nil || !strings.Contains(err.Error(), "away") {
		t.Errorf("%v", err)
	}
}

// RT-OKF, RT-FO-AUTH: what follows failures is what the gateway does, with and
// without a credential of the caller's own.
func TestFailures_of_callers_with_their_own_credential(t *testing.T) {
	r := route("r", "m-*", "pass", "org")
	r.OrgKeyFallbackForCallerCredential = true
	w := dryrun.World{Live: compile(t, provider("pass", ""), provider("org", "sk-ant-o"), r), Now: time.Unix(1, 0)}
	for _, c := range []struct {
		name     string
		own      bool
		down     []string
		failures []failure.Category
		want     string
	}{
		{"quota falls back to the organisation's key", true, nil, []failure.Category{failure.QuotaExhausted, failure.Timeout}, "pass:next:org org:exhausted:"},
		{"a wrong credential does not", true, nil, []failure.Category{failure.Auth, failure.Timeout}, "pass:return:"},
		{"the organisation's member by itself", false, nil, []failure.Category{failure.Timeout, failure.Timeout}, "org:exhausted:"},
		{"who is down is tried when nobody else is", false, []string{"org"}, []failure.Category{failure.Timeout}, "org:exhausted:"},
		{"a fallback is never the first", true, []string{"pass"}, []failure.Category{failure.Timeout, failure.Timeout}, "pass:exhausted:"},
		{"a wrong request", false, nil, []failure.Category{failure.RequestError}, "org:return:"},
	} {
		a, err := dryrun.Resolve(t.Context(), w, &dryrun.Request{Model: "m-1", CallerCredential: c.own, Failures: c.failures, Assume: dryrun.Assume{Down: c.down}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range a.Next {
			got = append(got, string(n.Provider)+":"+n.Action+":"+string(n.Next))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The first candidate of a plain request is known for every form of route.
func TestFirst(t *testing.T) {
	live := compile(t, provider("a", "sk-ant-a"), provider("b", "sk-ant-b"), provider("p", ""),
		route("prefix", "m-*", "a"), route("suffix", "*-end", "b"), route("inner", "*mid*", "a"), route("exact", "m-one", "b"), route("all", "*", "a"),
		route("pass", "q-*", "p"), route("none", "n-*"))
	for name, want := range map[routing.RouteID]routing.ProviderID{
		"prefix": "a", "suffix": "b", "inner": "a", "exact": "b", "all": "a", "pass": "p", "none": "",
	} {
		c, ok := dryrun.First(dryrun.World{Live: live, Now: time.Unix(1, 0)}, live.Routing.Route(name))
		if c.Provider != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", name, c.Provider, want)
		}
	}
}

// AP: the first candidate of a route is that of its patterns; an alias, which
// not every member serves, decides only if there is nothing else.
func TestAP_the_first_candidate_is_that_of_the_patterns(t *testing.T) {
	aliased := func(name, pattern, alias, only string) *resource.Route {
		r := route(name, pattern, "a", "b")
		r.Aliases = []resource.Alias{{Name: alias, WireModels: map[string]string{only: "x"}}}
		return r
	}
	live := compile(t, provider("a", "sk-ant-a"), provider("b", "sk-ant-b"),
		aliased("only-b", "m-*", "fast", "b"), aliased("only-a", "n-*", "slow", "a"), route("over", "q-one", "a"), aliased("hidden", "q-one*", "deep", "b"),
	)
	down := board{View: away{calm{}, "a"}}
	for _, c := range []struct {
		route routing.RouteID
		board dryrun.Board
		want  routing.ProviderID
	}{{"only-b", nil, "a"}, {"only-a", &down, "b"}, {"hidden", nil, "a"}} {
		if got, _ := dryrun.First(dryrun.World{Live: live, Board: c.board, Now: time.Unix(1, 0)}, live.Routing.Route(c.route)); got.Provider != c.want {
			t.Errorf("%s: %q, want %q", c.route, got.Provider, c.want)
		}
	}
}

// away is a View in which a provider is parked.
type away struct {
	routing.View
	who routing.ProviderID
}

func (a away) Health(p routing.ProviderID) routing.Health {
	if p == a.who {
		return routing.Health{ParkedUntil: time.Unix(100, 0)}
	}
	return routing.Health{}
}

// BY-2: a model's name is bounded as the gateway bounds it.
func TestBY_2_long_names(t *testing.T) {
	w := dryrun.World{Live: compile(t, provider("a", "sk-ant-a"), route("r", "é*", "a")), Now: time.Unix(1, 0)}
	for n, ok := range map[int]bool{wire.MaxModelChars: true, wire.MaxModelChars + 1: false} {
		a, err := dryrun.Resolve(t.Context(), w, &dryrun.Request{Model: strings.Repeat("é", n)})
		if (err == nil && a.Served) != ok || (err != nil && !strings.Contains(err.Error(), "256 characters")) {
			t.Errorf("%d characters: %v, %v", n, a, err)
		}
	}
}

// RT-FO-2, BY-2: what ties a request of Responses to one candidate ties the dry
// run's as well.
func TestRT_FO_2_tied_requests(t *testing.T) {
	provider := func(name string) resource.Object {
		return &resource.Provider{Meta: resource.Meta{Kind: "Provider", Name: name}, Type: resource.TypeOpenAI, APIKey: "sk-" + name}
	}
	w := dryrun.World{Live: compile(t, provider("a"), provider("b"), route("r", "m-*", "a", "b")), Now: time.Unix(1, 0)}
	for _, c := range []struct {
		endpoint string
		params   map[string]any
		always   bool
		failover bool
	}{
		{"responses", nil, false, true},
		{"responses", map[string]any{"previous_response_id": "resp_1"}, false, false},
		{"responses", nil, true, false},
		{"chat_completions", map[string]any{"previous_response_id": "resp_1"}, true, true},
	} {
		w.TieResponses = c.always
		a, err := dryrun.Resolve(t.Context(), w, &dryrun.Request{Model: "m-1", Endpoint: c.endpoint, Params: c.params})
		if err != nil || len(a.Candidates) != 2 || a.Plan.Failover != c.failover {
			t.Errorf("%+v: %+v, %v", c, a, err)
		}
	}
}
