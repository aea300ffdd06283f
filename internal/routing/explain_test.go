package routing

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The text says what is not as one expects: another credential, a state, who is
// dialled under which condition.
func TestExplain_BY_1_credentials_and_states(t *testing.T) {
	soon := noon.Add(time.Minute)
	broken := sees(world{
		health: map[ProviderID]Health{
			"open": {OpenUntil: soon}, "parked": {ParkedUntil: soon}, "probing": {Probing: true, OpenUntil: noon.Add(-1)}, "recovering": {Limit: 1, Running: 1}, "pass": {OpenUntil: soon},
		},
		cooling: map[string]time.Time{"cooling/" + known("m"): soon},
	})
	for _, row := range []struct {
		name string
		s    *Snapshot
		in   *Input
		want string
	}{
		{"states", build(t, route(t, "r", "m", provider("open"), provider("parked"), provider("probing"), provider("cooling"), provider("recovering"))), asked("m", broken), `model    m (revision 1)
route    picked            r: m
state    recovering        recovering: it has all the requests that it may have for now
state    cooling           cooling: until 2026-11-30T12:01:00Z
state    circuit_open      open: until 2026-11-30T12:01:00Z
state    parked            parked: until 2026-11-30T12:01:00Z
state    circuit_open      probing: a probe is under way
strategy failover          recovering: first in order
try 1    recovering via r as m (first in order; recovering)
try 2    cooling via r as m (cooling)
try 3    open via r as m (circuit_open: dialled only if nobody else was)
try 4    parked via r as m (parked: dialled only if nobody else was)
try 5    probing via r as m (circuit_open: dialled only if nobody else was)
`},
		{"credentials", build(t, with(route(t, "r", "m", provider("a"), provider("pass", noKey), provider("pass2", noKey), provider("open")), orgKeyFallback)), asked("m", own, broken), `model    m (revision 1)
route    picked            r: m
state    circuit_open      pass: until 2026-11-30T12:01:00Z
state    circuit_open      open: until 2026-11-30T12:01:00Z
strategy failover          pass2: first in order
try 1    pass2 via r as m with the caller's own credential (first in order)
try 2    pass via r as m with the caller's own credential (circuit_open: dialled only if nobody else was)
try 3    a via r as m with its own key (org-key fallback)
try 4    open via r as m with its own key (circuit_open: not dialled)
`},
		{"a virtual key", build(t, route(t, "r", "m", provider("a"), provider("b"))), asked("m", virtual("b")), `model    m (revision 1)
route    picked            r: m
strategy failover          a: first in order
try 1    a via r as m (first in order)
try 2    b via r as m with the virtual key's provider credential (next in order)
`},
		{"no fallback", build(t, route(t, "r", "m", provider("a"), provider("b"))), asked("m", func(in *Input) { in.Query.NoFallback = true }), `model    m (revision 1)
route    picked            r: m
strategy failover          a: first in order
try 1    a via r as m (first in order)
try 2    b via r as m (next in order)
         only one is dialled, once: the client wants no fallback
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, Decide(row.s, row.in).Explain()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
