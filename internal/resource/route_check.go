package resource

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxWeight      = 1_000_000
	maxPriority    = 1_000_000
	maxDescription = 2_000
)

// strategyTypes are the strategies that the specification knows.
func strategyTypes() []string {
	return []string{"failover", "round-robin", "weighted", "lowest-cost", "lowest-latency", "least-loaded"}
}

// Check reports what is wrong with the route by itself (RT-PAT-3).
func (r *Route) Check() []Problem {
	c := newChecker(&r.Meta)
	c.err("name", CheckName(r.Name))
	checkReserved(c, r.Name)
	checkDescription(c, "description", r.Description)
	if len(r.ModelPatterns) == 0 {
		c.add("modelPatterns", `a route needs at least one model pattern; add one such as "claude-*"`)
	}
	routePatterns(c, "modelPatterns", r.ModelPatterns)
	r.checkMembers(c)
	r.checkAliases(c)
	r.checkStrategy(c)
	if r.OnLoss != "" {
		oneOf(c, "onLoss", r.OnLoss, "allow", "skip", "refuse")
	}
	return c.ps
}

func (r *Route) checkMembers(c *checker) {
	first := make(map[string]int, len(r.Members))
	for i, m := range r.Members {
		at := IndexPath("members", i)
		if m.Provider == "" {
			c.add(JoinPath(at, "provider"), "the member names no provider; add one")
		} else {
			c.err(JoinPath(at, "provider"), CheckName(m.Provider))
			if j, ok := first[m.Provider]; ok {
				c.add(JoinPath(at, "provider"), "the provider %s is a member already, at %s; remove one of them",
					m.Provider, IndexPath("members", j))
			} else {
				first[m.Provider] = i
			}
		}
		if w := m.Weight; w != nil && (*w < 0 || *w > maxWeight) {
			c.add(JoinPath(at, "weight"), "the weight %d is out of range; write 0 to 1,000,000", *w)
		}
		if m.Priority < 0 || m.Priority > maxPriority {
			c.add(JoinPath(at, "priority"), "the priority %d is out of range; write 0 to 1,000,000", m.Priority)
		}
	}
}

func (r *Route) checkAliases(c *checker) {
	first := make(map[string]int, len(r.Aliases))
	for i, a := range r.Aliases {
		at := IndexPath("aliases", i)
		c.err(JoinPath(at, "name"), CheckModelName(a.Name))
		if j, ok := first[strings.ToLower(a.Name)]; ok && a.Name != "" {
			c.add(JoinPath(at, "name"), "the alias %s repeats %s (case does not count); remove one of them",
				quote(a.Name), IndexPath("aliases", j))
		} else {
			first[strings.ToLower(a.Name)] = i
		}
		wires := JoinPath(at, "wireModels")
		if len(a.WireModels) == 0 {
			c.add(wires, "the alias %s has no wire models, so no member could serve it; add {provider: model}", quote(a.Name))
		}
		for _, provider := range orderedKeys(a.WireModels) {
			// A provider that is no member may have an entry: a policy or a
			// virtual key can force it.
			entry := JoinPath(wires, provider)
			c.err(entry, CheckName(provider))
			c.err(entry, CheckModelName(a.WireModels[provider]))
		}
	}
}

func (r *Route) checkStrategy(c *checker) {
	s := r.Strategy
	if s == nil {
		return
	}
	if s.Type != "" {
		oneOf(c, "strategy.type", s.Type, strategyTypes()...)
	}
	if s.Type == "weighted" && len(r.Members) > 0 && !slices.ContainsFunc(r.Members, startsWeighted) {
		c.add("members", "the strategy weighted needs a member with a weight above 0 that is not fallbackOnly; give one a weight")
	}
	options := []struct {
		name string
		set  bool
	}{
		{"windowMinutes", s.WindowMinutes != nil},
		{"minRequests", s.MinRequests != nil},
		{"explorationShare", s.ExplorationShare != nil},
	}
	for _, o := range options {
		if o.set && s.Type != "lowest-latency" {
			c.add(JoinPath("strategy", o.name), "%s is an option of lowest-latency, not of %s; remove it", o.name, shownStrategy(s.Type))
		}
	}
	if s.Type != "lowest-latency" {
		return
	}
	if s.WindowMinutes != nil {
		between(c, "strategy.windowMinutes", *s.WindowMinutes, 1, 1440)
	}
	if s.MinRequests != nil {
		between(c, "strategy.minRequests", *s.MinRequests, 1, 1_000_000)
	}
	if s.ExplorationShare != nil {
		between(c, "strategy.explorationShare", *s.ExplorationShare, 0, 0.5)
	}
}

// startsWeighted tells whether new sessions may start on a member under the
// strategy weighted.
func startsWeighted(m Member) bool {
	return !m.FallbackOnly && (m.Weight == nil || *m.Weight > 0)
}

func shownStrategy(t string) string {
	if t == "" {
		return "failover, the default"
	}
	return quote(t)
}

// checkDescription allows line breaks, unlike names.
func checkDescription(c *checker, path, s string) {
	switch {
	case !utf8.ValidString(s):
		c.add(path, "the description is not valid UTF-8")
	case utf8.RuneCountInString(s) > maxDescription:
		c.add(path, "the description has %d characters; at most %d are allowed", utf8.RuneCountInString(s), maxDescription)
	}
	for line := range strings.SplitSeq(s, "\n") {
		if _, r := unprintable(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", " ")); r != 0 {
			c.add(path, "the description has the unprintable character %U; remove it", r)
			return
		}
	}
}

func (r *Route) refs() []RefAt {
	out := make([]RefAt, 0, len(r.Members))
	for i, m := range r.Members {
		out = append(out, RefAt{Path: IndexPath("members", i) + ".provider", Ref: Ref{"Provider", m.Provider}})
	}
	return out
}
