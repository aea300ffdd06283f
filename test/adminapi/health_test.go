package adminapi

import (
	"fmt"
	"os"
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
		Name, CredentialMode, Residency string
		Drained, Enabled                bool
		Breaker                         struct{ State, Category string }
		Park                            *struct{ By string }
		Cooldowns                       []struct{ WireModel string }
		Requests, Errors                int
		P50Ms, WholeP50Ms               float64
	}
}

type memberHealth struct {
	Provider, CredentialMode, State, Cause, By, Replica string
	Healthy                                             bool
	Status                                              int
	Since, Until                                        time.Time
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
