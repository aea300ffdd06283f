package adminapi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// upstreams is what the health page has.
type upstreams struct {
	Replica string
	Routes  []struct {
		Name, Tag      string
		ActiveMember   *string
		HealthyMembers int
		Members        []memberHealth
		Traffic        struct{ Requests, Failovers, Errors int }
	}
	Providers []struct {
		Name, CredentialMode, Residency, NoKey string
		Drained, Enabled                       bool
		Breaker                                struct{ State, Category string }
		Park                                   *struct{ By string }
		Cooldowns                              []struct{ WireModel string }
		Requests, Errors                       int
		P50Ms, WholeP50Ms                      float64
	}
}

type memberHealth struct {
	Provider, CredentialMode, State, Cause, By, Replica, Message string
	Healthy                                                      bool
	Status                                                       int
	Since, Until                                                 time.Time
}

func (r *rig) upstreams() *upstreams {
	r.t.Helper()
	u := &upstreams{}
	r.call("GET", "/health/upstreams", "", 200, u)
	return u
}

// route says how a route is, in a line.
func (u *upstreams) route(name string) string {
	for _, x := range u.Routes {
		if x.Name != name {
			continue
		}
		active := "nobody"
		if x.ActiveMember != nil {
			active = *x.ActiveMember
		}
		line := fmt.Sprintf("%s %s %d:", x.Tag, active, x.HealthyMembers)
		for _, m := range x.Members {
			line += " " + m.Provider + "=" + m.State
		}
		return line
	}
	return "none"
}

func (u *upstreams) member(route, provider string) memberHealth {
	for _, x := range u.Routes {
		for _, m := range x.Members {
			if x.Name == route && m.Provider == provider {
				return m
			}
		}
	}
	return memberHealth{}
}

// BY-13, AP: the state of every member, with cause, begin and end (R24).
func TestBY_13_AP_health_of_upstreams(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	gw := start(t, "llmProxy: {circuitBreaker: {failureThreshold: 1}, retry: {maxRetries: 0}}",
		a.OpenAI("first", "residency: us"), b.OpenAI("second", "residency: eu"), a.OpenAI("idle"), a.OpenAI("off", "enabled: false"),
		passthrough("own", a.URL),
		gwtest.Route("gpt", `"gpt-*"`, "first", "second"), gwtest.Route("turns", `"turn-*"`, "first", "second")+"\nstrategy: {type: round-robin}",
		gwtest.Route("other", `"other"`, "second", "off"))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	u := gw.upstreams()
	for name, want := range map[string]string{
		"gpt": "stored first 2: first=healthy second=healthy", "turns": "stored first 2: first=healthy second=healthy", "other": "stored second 1: second=healthy",
		"own": "implicit own 1: own=healthy", "anthropic-family": "implicit nobody 1: own=healthy", "openai-family": "implicit nobody 3: first=healthy idle=healthy second=healthy", // others serve all of theirs
	} {
		if got := u.route(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if u.Replica != host || len(u.Providers) != 5 {
		t.Errorf("%+v", u)
	}
	for _, p := range u.Providers {
		if p.Enabled == (p.Name == "off") || p.Breaker.State != "closed" || (p.CredentialMode == "passthrough") != (p.Name == "own") || p.Cooldowns == nil {
			t.Errorf("%+v", p)
		}
	}
	// Looking takes no turn and dials nobody.
	for range 3 {
		if got := gw.upstreams().route("turns"); got != u.route("turns") {
			t.Error(got)
		}
	}
	gw.ask("/v1/chat/completions", chatOf("turn-1"))
	if got := gw.upstreams().route("turns"); got != "stored second 2: first=healthy second=healthy" {
		t.Error(got)
	}

	began := time.Now()
	a.Rules(t, fakellm.Rule{Action: fakellm.ActionStatus, Status: 503, Times: 1})
	b.Rules(t, fakellm.Rule{Action: fakellm.ActionStatus, Status: 429, Headers: map[string]string{"Retry-After": "50"}, Times: 1})
	gw.ask("/v1/chat/completions", chatOf("gpt-5"))
	u = gw.upstreams()
	if got := u.route("gpt"); got != "stored second 0: first=circuit_open second=cooling" {
		t.Error(got)
	}
	m := u.member("gpt", "first")
	if m.Cause != "server_error" && m.Cause != "overloaded" || m.Status != 503 || m.Since.Before(began.Add(-time.Second)) || m.Until.Sub(m.Since) != 30*time.Second || m.Replica != host || m.Healthy {
		t.Errorf("%+v", m)
	}
	m = u.member("gpt", "second")
	if left := time.Until(m.Until); m.Cause != "rate_limit" || left < 40*time.Second || left > 50*time.Second || m.Since.IsZero() {
		t.Errorf("%+v", m)
	}
	// What a model cools for is for the routes that serve it.
	if got := u.route("other"); got != "stored second 1: second=healthy" {
		t.Error(got)
	}
	for _, r := range u.Routes {
		if tr := r.Traffic; r.Name == "gpt" && (tr.Requests != 1 || tr.Failovers != 1 || tr.Errors != 1) || r.Name == "turns" && tr.Requests != 1 {
			t.Errorf("%s: %+v", r.Name, tr)
		}
	}
	// The routes say the same.
	var route struct {
		Members []struct {
			Provider, State string
			Until           time.Time
		}
	}
	gw.call("GET", "/routes/gpt", "", 200, &route)
	if len(route.Members) != 2 || route.Members[0].State != "circuit_open" || !route.Members[0].Until.Equal(u.member("gpt", "first").Until) {
		t.Errorf("%+v", route)
	}
	// An operator ends it.
	gw.call("POST", "/providers/first/unpark", "", 200, nil)
	gw.call("POST", "/providers/second/unpark", "", 200, nil)
	if got := gw.upstreams().route("gpt"); got != "stored first 2: first=healthy second=healthy" {
		t.Error(got)
	}
}

// BY-13: a provider whose key is gone is not healthy and says why; it can be
// drained and switched off, and comes back when the key does.
func TestBY_13_a_key_that_can_not_be_read(t *testing.T) {
	fake := gwtest.NewFake(t)
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sk-in-a-file-0001")
	c := gwtest.Config{Admin: true, Dir: dir, Documents: withAdmin(fake.OpenAI("b"))}
	gw := &rig{gwtest.StartWith(t, c), t}
	body := func(more string) string {
		return fmt.Sprintf(`{"type":"openai","baseUrl":%q,"apiKey":"file:%s"%s}`, fake.URL+"/v1", key, more)
	}
	gw.call("PUT", "/providers/a", body(""), 201, nil)
	gw.call("PUT", "/routes/q", `{"modelPatterns":["q-*"],"members":[{"provider":"a"},{"provider":"b"}]}`, 201, nil)
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	gw.Reload(t, c)
	u := gw.upstreams()
	if got, want := u.route("q"), "stored b 1: a=no_key b=healthy"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	why := u.member("q", "a").Message
	if !strings.Contains(why, "can't be read") || !strings.Contains(why, key) {
		t.Errorf("it says %q", why)
	}
	for _, p := range u.Providers {
		if want := map[string]string{"a": why}[p.Name]; p.NoKey != want {
			t.Errorf("%s: %q, want %q", p.Name, p.NoKey, want)
		}
	}
	var r struct{ Members []struct{ State string } }
	if gw.call("GET", "/routes/q", "", 200, &r); r.Members[0].State != "no_key" {
		t.Errorf("%+v", r)
	}
	gw.refused("PUT", "/providers/a", body(`,"residency":"eu"`), 400, "secret") // a change of one that is in use
	gw.call("POST", "/providers/a/drain", "", 200, nil)
	if got := gw.upstreams().member("q", "a").State; got != "drained" {
		t.Errorf("drained it is %s", got)
	}
	gw.call("PUT", "/providers/a", body(`,"drained":true,"residency":"eu"`), 200, nil)
	gw.call("PUT", "/providers/a", body(`,"enabled":false`), 200, nil)
	gw.call("PUT", "/providers/new", body(`,"enabled":false`), 201, nil)
	gw.refused("PUT", "/providers/a", body(""), 400, "secret")
	write("sk-in-a-file-0002")
	gw.call("PUT", "/providers/a", body(""), 200, nil)
	if got := gw.upstreams().route("q"); got != "stored a 2: a=healthy b=healthy" {
		t.Error(got)
	}
}
