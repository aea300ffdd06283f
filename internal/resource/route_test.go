package resource_test

import (
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/resource"
)

func route(change func(*resource.Route)) *resource.Route {
	r := &resource.Route{
		Meta: meta("Route", "r"), ModelPatterns: []string{"claude-*"},
		Members: []resource.Member{{Provider: "a"}, {Provider: "b", FallbackOnly: true}},
	}
	change(r)
	return r
}

func TestRouteCheck(t *testing.T) {
	type R = resource.Route
	weights := func(strategy string, ws ...int) *R {
		return route(func(r *R) {
			r.Strategy, r.Members = &resource.Strategy{Type: strategy}, nil
			for i, w := range ws {
				r.Members = append(r.Members, resource.Member{Provider: string(rune('a' + i)), Weight: &w})
			}
		})
	}
	latency := func(change func(*resource.Strategy)) *R {
		return route(func(r *R) { r.Strategy = &resource.Strategy{Type: "lowest-latency"}; change(r.Strategy) })
	}
	runChecks(t, []checkCase{
		{"takes the usual", route(func(*R) {}), nil},
		{"takes a route without members, which fails closed", route(func(r *R) { r.Members = nil }), nil},
		{"RT-PAT-3 needs a pattern", route(func(r *R) { r.ModelPatterns = nil }), [][2]string{{"modelPatterns", "at least one model pattern"}}},
		{"RT-PAT-3 refuses a bad pattern at its place", route(func(r *R) { r.ModelPatterns = []string{"ok", "a*b"} }), [][2]string{{"modelPatterns[1]", "inside"}}},
		{"RT-PAT-1 takes patterns that overlap", route(func(r *R) { r.ModelPatterns = []string{"foo", "FOO", "f*", "F*", "*oo"} }), nil},
		{"refuses a repeated member", route(func(r *R) { r.Members[1].Provider = "a" }), [][2]string{{"members[1].provider", "member already, at members[0]"}}},
		{"refuses a member without provider", route(func(r *R) { r.Members[0].Provider = "" }), [][2]string{{"members[0].provider", "names no provider"}}},
		{"RT-PAT-3 refuses weights out of range", weights("weighted", -1, 1_000_001, 1), [][2]string{{"members[0].weight", "-1"}, {"members[1].weight", "0 to 1,000,000"}}},
		{"RT-PAT-3 takes the bounds", weights("weighted", 0, 1_000_000), nil},
		{"RT-PAT-3 refuses weights of which none starts", weights("weighted", 0, 0), [][2]string{{"members", "weight above 0"}}},
		{"keeps weights that another strategy ignores", weights("failover", 0, 0), nil},
		{"does not count fallback-only members", route(func(r *R) {
			r.Strategy, r.Members = &resource.Strategy{Type: "weighted"}, []resource.Member{{Provider: "a", Weight: new(0)}, {Provider: "b", FallbackOnly: true}}
		}), [][2]string{{"members", "not fallbackOnly"}}},
		{"takes a default weight", route(func(r *R) { r.Strategy = &resource.Strategy{Type: "weighted"} }), nil},
		{"RT-PAT-3 refuses an unknown strategy", route(func(r *R) { r.Strategy = &resource.Strategy{Type: "random"} }), [][2]string{{"strategy.type", "failover, round-robin"}}},
		{"takes a strategy without type", route(func(r *R) { r.Strategy = &resource.Strategy{} }), nil},
		{"RT-PAT-3 takes options in range", latency(func(s *resource.Strategy) {
			s.WindowMinutes, s.MinRequests, s.ExplorationShare = new(1440), new(1), new(0.5)
		}), nil},
		{"RT-PAT-3 refuses options out of range", latency(func(s *resource.Strategy) {
			s.WindowMinutes, s.MinRequests, s.ExplorationShare = new(0), new(1_000_001), new(0.51)
		}), [][2]string{{"strategy.windowMinutes", "1 to 1440"}, {"strategy.minRequests", "1 to 1000000"}, {"strategy.explorationShare", "0 to 0.5"}}},
		{"RT-PAT-3 refuses a share that is no number", latency(func(s *resource.Strategy) { s.ExplorationShare = new(nan()) }), [][2]string{{"strategy.explorationShare", "NaN"}}},
		{"RT-PAT-3 refuses options of another strategy", route(func(r *R) { r.Strategy = &resource.Strategy{WindowMinutes: new(5)} }), [][2]string{
			{"strategy.windowMinutes", "option of lowest-latency, not of failover, the default"},
		}},
		{"refuses an unknown onLoss", route(func(r *R) { r.OnLoss = "ignore" }), [][2]string{{"onLoss", "allow, skip or refuse"}}},
		{"takes aliases", route(func(r *R) {
			r.Aliases = []resource.Alias{{Name: "org/chat-standard", WireModels: map[string]string{"a": "claude-x", "not-a-member": "claude-y"}}}
		}), nil},
		{"refuses bad aliases", route(func(r *R) {
			r.Aliases = []resource.Alias{
				{Name: "fast*", WireModels: map[string]string{"a": "x"}},
				{Name: "Fast", WireModels: map[string]string{"a": ""}},
				{Name: "fast"},
			}
		}), [][2]string{
			{"aliases[0].name", "has a *"},
			{"aliases[1].wireModels.a", "is empty"},
			{"aliases[2].name", "repeats aliases[1]"},
			{"aliases[2].wireModels", "no wire models"},
		}},
		{"takes lines in a description", route(func(r *R) { r.Description = "one\r\ntwo\tthree" }), nil},
		{"refuses an odd description", route(func(r *R) { r.Description = "bell \a" }), [][2]string{{"description", "U+0007"}}},
		{"refuses a long description", route(func(r *R) { r.Description = strings.Repeat("x", 2001) }), [][2]string{{"description", "2001 characters"}}},
		{"refuses reserved names", route(func(r *R) { r.Name = "anthropic-family" }), [][2]string{{"name", "reserved"}}},
	})
}
