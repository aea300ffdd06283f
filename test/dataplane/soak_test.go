package dataplane

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// soakSize is how much a soak does.
type soakSize struct {
	clients int
	lasting time.Duration
	chunks  int
	gap     time.Duration // between two chunks
	limit   int           // of the members that fail, in milliseconds
	rare    float64       // share of the faults that keep a member away
}

// size is the short form; INTERLOCK_SOAK=1 asks for the long one, of the issue
// of step 3: 2,000 streams at once for a minute.
func size() soakSize {
	if os.Getenv("INTERLOCK_SOAK") != "" {
		return soakSize{clients: 2000, lasting: time.Minute, chunks: 16, gap: 250 * time.Millisecond, limit: 3000, rare: 0.001}
	}
	if testing.Short() {
		return soakSize{clients: 60, lasting: 2 * time.Second, chunks: 8, gap: 50 * time.Millisecond, limit: 1000, rare: 0.004}
	}
	return soakSize{clients: 300, lasting: 5 * time.Second, chunks: 16, gap: 100 * time.Millisecond, limit: 2500, rare: 0.004}
}

// fault is something that a member does to a request that names it.
type fault struct {
	name string
	rule fakellm.Rule
	// later: content may have been sent before it; then it is the end.
	later bool
	// returned: it goes to the client, since it would be the same everywhere.
	returned bool
	// good: it is odd, but no failure.
	good bool
}

// faults is every action of the fake provider.
func faults(d *dialect) []fault {
	early, late := d.lead-1, d.lead+2
	return []fault{
		{name: "500", rule: fakellm.Rule{Action: "status", Status: 500}},
		{name: "503", rule: fakellm.Rule{Action: "status", Status: 503, Shape: "html"}},
		{name: "529", rule: fakellm.Rule{Action: "status", Status: 529}},
		{name: "401", rule: fakellm.Rule{Action: "status", Status: 401}},
		{name: "404", rule: fakellm.Rule{Action: "status", Status: 404}},
		{name: "400", rule: fakellm.Rule{Action: "status", Status: 400, Message: "the field is wrong"}, returned: true},
		{name: "error200", rule: fakellm.Rule{Action: "error_200", Status: 529, Type: "overloaded_error"}},
		{name: "reset", rule: fakellm.Rule{Action: "reset"}},
		{name: "hang", rule: fakellm.Rule{Action: "hang"}},
		{name: "headershang", rule: fakellm.Rule{Action: "headers_hang"}},
		{name: "slowhead", rule: fakellm.Rule{DelayMS: 200}, good: true},
		{name: "rstearly", rule: fakellm.Rule{Action: "cut", Cut: "rst", After: early}},
		{name: "finearly", rule: fakellm.Rule{Action: "cut", Cut: "fin", After: early}},
		{name: "endearly", rule: fakellm.Rule{Action: "cut", Cut: "end", After: early}},
		{name: "rstlate", rule: fakellm.Rule{Action: "cut", Cut: "rst", After: late}, later: true},
		{name: "finlate", rule: fakellm.Rule{Action: "cut", Cut: "fin", After: late}, later: true},
		{name: "endlate", rule: fakellm.Rule{Action: "cut", Cut: "end", After: late}, later: true},
		{name: "stallearly", rule: fakellm.Rule{Action: "stall", After: early}},
		{name: "stalllate", rule: fakellm.Rule{Action: "stall", After: late}, later: true},
		{name: "pings", rule: fakellm.Rule{Action: "trickle_pings", GapMS: 100}},
		{name: "errorearly", rule: fakellm.Rule{Action: "sse_error", After: 0, Type: "overloaded_error"}},
		{name: "errorlate", rule: fakellm.Rule{Action: "sse_error", After: late, Type: "overloaded_error"}, later: true},
		{name: "preamble", rule: fakellm.Rule{Action: "preamble_error", Status: 529, Type: "overloaded_error"}},
		{name: "inject", rule: fakellm.Rule{Action: "inject", After: late, Raw: ": a comment between\n\n"}, good: true},
		{name: "gzip", rule: fakellm.Rule{Action: "gzip"}, good: true},
		{name: "json", rule: fakellm.Rule{Action: "json_for_stream"}},
		// These keep a member away for a second or five: they come last, and
		// are rare.
		{name: "quota", rule: fakellm.Rule{Action: "status", Status: 402, Headers: map[string]string{"Retry-After": "1"}}},
		{name: "limit", rule: fakellm.Rule{Action: "status", Status: 429, Headers: map[string]string{"Retry-After": "1"}}},
		{name: "barelimit", rule: fakellm.Rule{Action: "status", Status: 429}},
	}
}

const (
	rareFaults    = 3
	soakMembers   = 5 // of each format
	soakThreshold = 6 // failures that open a breaker
)

// soak is a server with some members a format, which do what requests say; the
// last does so seldom.
type soak struct {
	*gwtest.Server
	size  soakSize
	fake  *gwtest.Fake
	sides []*soakSide

	sent, whole, broken, refused, left, odd atomic.Int64

	mu  sync.Mutex
	ids []string // of the answers
}

type soakSide struct {
	*dialect
	faults []fault
}

func newSoak(t *testing.T, s soakSize) *soak {
	t.Helper()
	k := &soak{size: s, fake: &gwtest.Fake{Server: fakellm.New(fakellm.Options{KeepRecords: fakellm.KeepNone})}}
	url, err := k.fake.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var docs []string
	var rules []fakellm.Rule
	for i, d := range dialects() {
		side := &soakSide{d, faults(d)}
		k.sides = append(k.sides, side)
		var names []string
		for j := range soakMembers {
			names = append(names, fmt.Sprintf("%s-%d", d.name, j+1))
		}
		for j, n := range names {
			var more []string
			if j+1 < soakMembers {
				more = limits(s.limit, s.limit)
			}
			docs = append(docs, d.provider(url+"/"+n, n, more...))
			good := &fakellm.Reply{Chunks: s.chunks, ChunkText: n + " "}
			for _, f := range side.faults {
				rule := at(n, f.rule)
				rule.BodyRE, rule.Reply = fmt.Sprintf("do%d-%s ", j+1, f.name), good
				if rule.GapMS == 0 {
					rule.GapMS = int(s.gap / time.Millisecond)
				}
				rules = append(rules, rule)
			}
			rules = append(rules, at(n, fakellm.Rule{GapMS: int(s.gap / time.Millisecond), Reply: good}))
		}
		route := gwtest.Route(d.name, fmt.Sprintf("%q", d.pattern), append(names[:soakMembers-1:soakMembers-1], names[soakMembers-1]+", fallbackOnly: true")...)
		if i == 1 {
			route += "\nstrategy: {type: round-robin}"
		}
		docs = append(docs, route)
	}
	k.fake.Rules(t, rules...)
	k.Server = gwtest.StartWith(t, gwtest.Config{
		Settings:  fmt.Sprintf("llmProxy: {circuitBreaker: {failureThreshold: %d, cooldownSeconds: 1}, retry: {baseDelayMs: 20}}", soakThreshold),
		Documents: docs, Admin: true,
	})
	// net/http dials more than it needs, and the server closes after 10 s what
	// was never used: the client must not pick it up then.
	tr := &http.Transport{MaxIdleConnsPerHost: s.clients, DisableCompression: true, IdleConnTimeout: 5 * time.Second}
	k.Client = &http.Client{Transport: tr, Timeout: 2 * time.Minute}
	return k
}

// pick chooses what a member does; nil is nothing.
func (s *soakSide) pick(r *rand.Rand, rare float64) *fault {
	n := len(s.faults) - rareFaults
	switch p := r.Float64(); {
	case p < 0.6:
		return nil
	case p < 1-rare:
		return &s.faults[r.IntN(n)]
	}
	return &s.faults[n+r.IntN(rareFaults)]
}

var echoed = regexp.MustCompile(`\[s\d{7}\]`)

// one sends one request and looks at its answer.
func (k *soak) one(t *testing.T, r *rand.Rand) {
	t.Helper()
	n := k.sent.Add(1)
	side, stream := k.sides[n%2], r.IntN(16) != 0
	id, model := fmt.Sprintf("s%07d", n), fmt.Sprintf("%s-%d", side.model, r.IntN(8)) // each cools by itself
	var chosen []*fault
	text := ""
	for j := range soakMembers {
		f := side.pick(r, k.size.rare)
		if j+1 == soakMembers { // the last resort: seldom, and nothing that keeps it away
			if f = nil; r.IntN(50) == 0 {
				f = &side.faults[0]
			}
		}
		if f != nil {
			chosen = append(chosen, f)
			text += fmt.Sprintf("do%d-%s ", j+1, f.name)
		}
	}
	lastWorks := !strings.Contains(text, fmt.Sprintf("do%d-", soakMembers))
	has := func(p func(*fault) bool) bool { return slices.ContainsFunc(chosen, p) }

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	leaves := r.IntN(16) == 0
	if leaves {
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(k.size.gap)*int64(k.size.chunks))), cancel)
		defer timer.Stop()
	}
	req := k.Request(t, http.MethodPost, side.path, side.body(model, text+"fake-echo:"+id+" ", stream)).WithContext(ctx)
	resp, err := k.Client.Do(req)
	if err != nil {
		if !leaves {
			t.Errorf("%s %s: %v", id, text, err)
		}
		k.left.Add(1)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	k.mu.Lock()
	k.ids = append(k.ids, resp.Header.Get("X-Interlock-Request-Id"))
	k.mu.Unlock()
	for _, mark := range echoed.FindAllString(string(body), -1) {
		if mark != "["+id+"]" {
			t.Errorf("%s received %s of another", id, mark)
		}
	}
	if leaves && ctx.Err() != nil {
		k.left.Add(1)
		return
	}
	got := gwtest.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Err: err}
	switch {
	case err != nil:
		t.Errorf("%s %s: %v", id, text, err)
	case got.Status != 200:
		k.refused.Add(1)
		if lastWorks && !has(func(f *fault) bool { return f.returned }) {
			t.Errorf("%s %s: %d %s", id, text, got.Status, clipped(got.Body))
		}
		if _, err := side.parseError(got.Body); err != nil {
			t.Errorf("%s %s: %v: %s", id, text, err, clipped(got.Body))
		}
	default:
		k.answered(t, side, got, stream, id, text, has(func(f *fault) bool { return f.later }))
	}
}

// answered: the pieces of one member, all of them or an error after some.
func (k *soak) answered(t *testing.T, side *soakSide, got gwtest.Answer, stream bool, id, text string, later bool) {
	t.Helper()
	by := got.Header.Get("X-Interlock-Provider")
	said := side.text(t, got.Body, stream)
	all := markedWords(id, by, k.size.chunks)
	switch {
	case said == all && (!stream || strings.Contains(got.Body, side.ends)):
		k.whole.Add(1)
		return
	case said == all && strings.Contains(lastEvent(got.Body), `"finish_reason":"stop"`):
		// Complete but for the marker, which was longer in coming than the
		// gateway waits for one: only on a machine that stands still.
		k.odd.Add(1)
		return
	}
	k.broken.Add(1)
	if !stream || !strings.HasPrefix(all, said) || len(said)%len(markedWords(id, by, 1)) != 0 {
		t.Errorf("%s %s: %s said %q", id, text, by, clipped(said))
		return
	}
	if !later { // on a loaded machine a member may seem silent, and nothing else
		k.odd.Add(1)
		if !strings.Contains(lastEvent(got.Body), "upstream_timeout") {
			t.Errorf("%s %s: it broke off with %s", id, text, lastEvent(got.Body))
		}
	}
	if strings.Contains(got.Body, side.ends) || !strings.Contains(lastEvent(got.Body), `"error"`) {
		t.Errorf("%s %s: a broken stream ends with %q", id, text, lastEvent(got.Body))
	}
}

// TestSoak_streams_under_faults: many streams at once while members fail in
// all ways and breakers, parks and cooldowns come and go. Every answer is its
// client's own, every request leaves one record, and nothing stays behind.
func TestSoak_streams_under_faults(t *testing.T) {
	before := runtime.NumGoroutine()
	k := newSoak(t, size())
	k.kick(t)
	start := time.Now()
	most := atomic.Int64{}
	concurrently(k.size.clients, k.size.clients, func(i int) {
		r := rand.New(rand.NewPCG(uint64(i), 1))                                                  // a fault is no secret
		pause := time.NewTimer(time.Duration(r.Int64N(int64(k.size.gap) * int64(k.size.chunks)))) // not all at once
		<-pause.C
		for time.Since(start) < k.size.lasting && !t.Failed() {
			k.one(t, r)
			most.Store(max(most.Load(), int64(k.fake.InFlight())))
		}
	})
	took := time.Since(start)
	eventually(t, 20*time.Second, "no provider is busy", func() bool { return k.fake.InFlight() == 0 })
	k.recorded(t)
	t.Logf("%d clients, %v: %d requests (%.0f a second), %d dials, up to %d at once; %d whole, %d broke after content, %d errors, %d left; %d seemed silent",
		k.size.clients, took.Round(time.Millisecond), k.sent.Load(), float64(k.sent.Load())/took.Seconds(), k.fake.Requests(), most.Load(),
		k.whole.Load(), k.broken.Load(), k.refused.Load(), k.left.Load(), k.odd.Load())
	if k.whole.Load() == 0 || k.broken.Load() == 0 || k.refused.Load() == 0 || k.left.Load() == 0 {
		t.Error("not every end was seen: the test is vacuous")
	}
	events := k.Admin(t, http.MethodGet, "/audit-events?kind=event&format=ndjson", "").Body
	for _, kind := range []string{"breaker_open", "breaker_closed", "park"} {
		n := strings.Count(events, `"code":"`+kind+`"`)
		if t.Logf("%s: %d times", kind, n); n == 0 {
			t.Errorf("no %s: the test is vacuous", kind)
		}
	}
	k.ended(t, before)
}

// everybody makes all members but the last do the same.
func everybody(what string) string {
	var b strings.Builder
	for j := 1; j < soakMembers; j++ {
		fmt.Fprintf(&b, "do%d-%s ", j, what)
	}
	return b.String()
}

// kick opens breakers and parks members of one format, so that no run is
// without them; those of the other begin healthy.
func (k *soak) kick(t *testing.T) {
	t.Helper()
	side := k.sides[1]
	ask := func(text string) {
		k.sent.Add(1)
		got := k.Post(t, side.path, side.body(side.model, text, false))
		k.ids = append(k.ids, got.Header.Get("X-Interlock-Request-Id"))
		if got.Status != 200 || got.Header.Get("X-Interlock-Provider") != fmt.Sprintf("%s-%d", side.name, soakMembers) {
			t.Fatalf("%d %v %s", got.Status, got.Header, got.Body)
		}
	}
	for range 2 * soakThreshold {
		ask(everybody("500"))
	}
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for end := time.Now().Add(10 * time.Second); !strings.Contains(k.Log.String(), `"event":"park"`); <-pace.C {
		if time.Now().After(end) {
			t.Fatal("no member is parked")
		}
		ask(everybody("quota"))
	}
}

// recorded: each request that was answered has one record, and nothing else
// has one.
func (k *soak) recorded(t *testing.T) {
	t.Helper()
	rows := map[string]int{}
	got := k.Admin(t, http.MethodGet, "/audit-events?kind=request&format=ndjson", "")
	if got.Status != 200 || got.Err != nil {
		t.Fatalf("the export: %d %v %s", got.Status, got.Err, clipped(got.Body))
	}
	lines := bufio.NewScanner(strings.NewReader(got.Body))
	lines.Buffer(nil, 1<<20)
	outcomes := map[string]int{}
	for lines.Scan() {
		var row audit.Row
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows[row.RequestID]++
		outcomes[row.Outcome]++
	}
	for _, id := range k.ids {
		if rows[id] != 1 {
			t.Errorf("request %q has %d records", id, rows[id])
		}
	}
	for id, n := range rows {
		if n != 1 {
			t.Errorf("request %q has %d records", id, n)
		}
	}
	if len(rows) > int(k.sent.Load()) || len(rows) < len(k.ids) {
		t.Errorf("%d records of %d requests, %d of which were answered", len(rows), k.sent.Load(), len(k.ids))
	}
	t.Logf("%d answers and %d records: %v", len(k.ids), len(rows), outcomes)
}

// ended stops the server and the provider and looks for what they left.
func (k *soak) ended(t *testing.T, before int) {
	t.Helper()
	k.Client.CloseIdleConnections()
	if err := k.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if stops := logged(t, k.Log, "stopping"); len(stops) != 1 || stops[0]["running"] != 0.0 {
		t.Errorf("in flight at the end: %v", stops)
	}
	for _, bad := range []string{"panic while serving a request", "the drain time is over; cutting off what still runs", "an audit record could not be kept; the request is not answered"} {
		if lines := logged(t, k.Log, bad); len(lines) != 0 {
			t.Errorf("%d times: %v", len(lines), lines[0])
		}
	}
	_ = k.fake.Close()
	eventually(t, 20*time.Second, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}
