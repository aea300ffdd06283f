package state_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/state"
)

// plain is the breaker of RT-CB, written as the spec says it.
type plain struct {
	failures int
	open     bool
	until    time.Time
	probes   int       // under way
	asked    time.Time // when the last of them went
	quit     int       // of them since epoch, without an answer
	held     []*ticket
	// epoch counts the times that the breaker opened, opened again or closed.
	epoch int
}

// ticket is a request under way.
type ticket struct {
	permit        state.Permit
	epoch         int
	counts, probe bool
}

func (m *plain) admits(now time.Time, counts bool) (ok, probe bool) {
	switch {
	case !m.open:
		return true, false
	case now.Before(m.until):
		return false, false
	case !counts:
		return true, false
	}
	probe = m.room(now)
	return probe, probe
}

// room tells whether one more probe may go: the first, one for each that was
// given up, and one more after five seconds; never more than three.
func (m *plain) room(now time.Time) bool {
	switch {
	case m.probes == 0:
		return true
	case m.probes >= 3:
		return false
	}
	return m.probes <= m.quit || now.Sub(m.asked) >= 5*time.Second
}

func (m *plain) changed() { m.probes, m.quit, m.epoch = 0, 0, m.epoch+1 }

// ends is what the end of a request does to the breaker.
func (m *plain) ends(x *ticket, f failure.Failure, counted bool, now time.Time) {
	if !x.counts || x.epoch != m.epoch {
		return
	}
	if x.probe {
		m.probes--
	}
	switch {
	case f.Category == "":
		m.failures = 0
		if m.open {
			m.open = false
			m.changed()
		}
	case f.Category == failure.Canceled:
		if x.probe {
			m.quit++
		}
	case !counted:
		if x.probe {
			m.open, m.failures = false, 0
			m.changed()
		}
	case m.open && !x.probe: // forced
	default:
		m.failures++
		if m.open || m.failures >= 3 {
			m.open, m.until = true, now.Add(10*time.Second)
			m.changed()
		}
	}
}

func TestRT_CB_like_a_plain_model(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, func(s *state.Settings) { s.Threshold, s.OpenFor = 3, 10*time.Second })
		m := &plain{}
		admit := func(counts, force bool) {
			want, probe := m.admits(w.clock.Now(), counts)
			p, blocked, ok := w.Admit(north, model, counts, force)
			if ok != (want || force) || (blocked.State == routing.Open) == want {
				rt.Fatalf("ok %t, blocked %+v; the model says %t", ok, blocked, want)
			}
			if ok {
				x := &ticket{p, m.epoch, counts, probe}
				if probe {
					m.probes, m.asked = m.probes+1, w.clock.Now()
				}
				m.held = append(m.held, x)
			}
		}
		end := func(rt *rapid.T, only func(i int) bool) {
			if len(m.held) == 0 {
				rt.Skip("none is under way")
			}
			i := rapid.IntRange(0, len(m.held)-1).Draw(rt, "request")
			o := rapid.IntRange(-1, len(outcomes)-1).Filter(only).Draw(rt, "outcome")
			f, counted := success, false
			if o >= 0 {
				f, counted = outcomes[o].failure, outcomes[o].counts
			}
			x := m.held[i]
			m.held = append(m.held[:i:i], m.held[i+1:]...)
			x.permit.Done(state.Outcome{Failure: f})
			m.ends(x, f, counted, w.clock.Now())
		}
		noQuota := func(i int) bool { return i < 0 || outcomes[i].failure.Category != failure.QuotaExhausted }
		rt.Repeat(map[string]func(*rapid.T){
			"admit":      func(*rapid.T) { admit(true, false) },
			"admit more": func(*rapid.T) { admit(true, false) },
			"foreign":    func(*rapid.T) { admit(false, false) },
			"force":      func(*rapid.T) { admit(true, true) },
			"end":        func(rt *rapid.T) { end(rt, noQuota) },
			"fail":       func(rt *rapid.T) { end(rt, func(i int) bool { return i >= 0 && outcomes[i].counts }) },
			"wait":       func(rt *rapid.T) { w.clock.Advance(time.Duration(rapid.IntRange(1, 8).Draw(rt, "s")) * time.Second) },
			"reset": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "rarely") > 0 {
					rt.Skip("not now")
				}
				w.Unpark(north, "ann")
				m.open, m.failures = false, 0
				m.changed()
			},
			"": func(rt *rapid.T) {
				h, r := w.Health(north), w.report()
				if h.OpenUntil.IsZero() == m.open || m.open && !h.OpenUntil.Equal(m.until) || h.Probing != (m.probes > 0 && !m.room(w.clock.Now())) || r.Probing != (m.probes > 0) {
					rt.Fatalf("%+v; the model: %+v", h, m)
				}
				if r.Breaker.Failures != m.failures || r.InFlight != len(m.held) {
					rt.Fatalf("%+v; the model: %+v", r, m)
				}
			},
		})
	})
}
