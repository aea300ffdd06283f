//go:build unix

package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// TestOP_6_SIGKILL: the process is killed again and again while it serves
// plain and streamed requests and its configuration changes. Each start finds
// a whole configuration, with every change that was answered, and at the end
// every request whose answer ended has exactly one record, and none has two.
func TestOP_6_SIGKILL(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 3
	}
	fake := gwtest.NewFake(t)
	fake.Rules(t, fakellm.Rule{BodyRE: "gpt-slow", GapMS: 3, Reply: &fakellm.Reply{Chunks: 12, ChunkText: "word "}},
		fakellm.Rule{BodyRE: "gpt-bad", Action: fakellm.ActionStatus, Status: 400})
	s := newSite(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-*", "a"))
	c := &chaos{t: t, ended: map[string]int{}, keys: map[string]keyState{}}
	var starts time.Duration
	for i := range kills {
		begin := time.Now()
		p := s.start()
		starts += time.Since(begin)
		c.check(p)
		c.load(p, time.Duration(60+rand.IntN(200))*time.Millisecond)
		if t.Failed() {
			t.Fatalf("after kill %d:\n%s", i, p.log)
		}
	}
	p := s.start()
	c.check(p)
	p.chat(200)
	p.stop()

	st := open(t, s.database())
	state, err := st.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	then, err := st.At(t.Context(), state.Revision)
	if err != nil || len(then) != len(state.Documents) {
		t.Fatalf("%d documents now, %d in the newest version: %v", len(state.Documents), len(then), err)
	}
	for i, d := range state.Documents {
		if string(d.Spec) != string(then[i].Spec) || d.Version != then[i].Version {
			t.Errorf("%s %q differs between now and its version", d.Kind, d.Name)
		}
	}
	requests, changes := map[string]int{}, map[int64]int{}
	for _, r := range stored(t, s.database()) {
		var rec audit.Record
		if err := json.Unmarshal(r.Data, &rec); err != nil {
			t.Fatalf("record %d: %v", r.Seq, err)
		}
		switch rec.Kind {
		case audit.KindRequest:
			requests[rec.RequestID]++
		case audit.KindAdmin:
			changes[rec.Admin.Revision]++
		}
	}
	lost, twice := 0, 0
	for id, status := range c.ended {
		if requests[id] == 0 {
			lost++
			t.Errorf("request %s was answered with %d and has no record", id, status)
		}
	}
	for id, n := range requests {
		if n > 1 {
			twice++
			t.Errorf("request %s has %d records", id, n)
		}
	}
	for _, n := range c.acknowledged {
		if changes[n] != 1 {
			t.Errorf("version %d was acknowledged and has %d records", n, changes[n])
		}
	}
	for n := range changes {
		if n > state.Revision || changes[n] > 1 {
			t.Errorf("version %d of %d has %d records", n, state.Revision, changes[n])
		}
	}
	t.Logf("%d kills (a start took %v on average): %d answers ended and %d broke off, %d records of requests, %d lost, %d twice; %d versions, %d of %d changes answered, %d keys",
		kills, (starts / time.Duration(kills)).Round(time.Millisecond), len(c.ended), c.broken, len(requests), lost, twice, state.Revision, len(c.acknowledged), c.last, len(c.keys))
	if len(c.ended) < kills*3 || len(c.acknowledged) < kills/2 {
		t.Error("this is too little to say anything")
	}
}

// keyState is what was answered of a key.
type keyState struct {
	name    string
	revoked bool
	unsure  bool // a revocation was not answered
}

// chaos is load, and what came of it.
type chaos struct {
	t            *testing.T
	mu           sync.Mutex
	ended        map[string]int // by request id: the status of answers that ended
	broken       int
	made         int // keys that were tried
	last         int // number of the last change that was tried
	kept         int // of the last that was answered
	acknowledged []int64
	keys         map[string]keyState // by secret
}

// load runs requests and changes for a while, and kills the process under
// them.
func (c *chaos) load(p *process, d time.Duration) {
	var stop atomic.Bool
	var all sync.WaitGroup
	for w := range 6 {
		all.Go(func() {
			for i := w; !stop.Load(); i++ {
				c.request(p, i)
			}
		})
	}
	all.Go(func() {
		for !stop.Load() {
			c.change(p)
		}
	})
	all.Go(func() {
		for !stop.Load() {
			c.key(p)
		}
	})
	<-time.After(d)
	p.kill()
	stop.Store(true)
	all.Wait()
}

// request sends one of several requests, and notes it if its answer ended:
// for a stream that is its end marker, whatever becomes of the connection.
func (c *chaos) request(p *process, i int) {
	model, stream, secret := "gpt-5", i%2 == 0, key
	switch i % 12 {
	case 0, 5, 7:
		model = "gpt-slow"
	case 2:
		model = "gpt-bad"
	case 3:
		model = "nobody-serves-this"
	}
	a := p.do(context.Background(), "POST", chatPath, gwtest.Chat(model, stream), secret)
	id := a.header.Get("X-Interlock-Request-Id")
	whole := a.err == nil
	if stream && a.status == 200 {
		whole = strings.Contains(a.body, "data: [DONE]\n")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !whole || id == "" {
		c.broken++
		return
	}
	if c.ended[id] != 0 {
		c.t.Errorf("two answers have the request id %s", id)
	}
	c.ended[id] = a.status
}

// change writes one number into three objects at once.
func (c *chaos) change(p *process) {
	c.mu.Lock()
	c.last++
	n := c.last
	c.mu.Unlock()
	doc := func(name string) string {
		return fmt.Sprintf(`{"kind":"Team","name":%q,"description":"number %d"}`, name, n)
	}
	a := p.do(context.Background(), "POST", "/api/v1/import", `{"documents":[`+doc("one")+`,`+doc("two")+`,`+doc("three")+`]}`, adminToken)
	if a.err != nil {
		return
	}
	var result struct{ Revision int64 }
	if err := json.Unmarshal([]byte(a.body), &result); err != nil || a.status != 200 || result.Revision == 0 {
		c.t.Errorf("change %d: %d %s", n, a.status, a.body)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = n
	c.acknowledged = append(c.acknowledged, result.Revision)
}

// key makes a key and may revoke it.
func (c *chaos) key(p *process) {
	c.mu.Lock()
	c.made++
	name := fmt.Sprintf("k%d", c.made)
	c.mu.Unlock()
	a := p.do(context.Background(), "POST", "/api/v1/keys", `{"name":"`+name+`","type":"service"}`, adminToken)
	if a.err != nil {
		return
	}
	var made struct{ Secret string }
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != 201 || made.Secret == "" {
		c.t.Errorf("key %s: %d %s", name, a.status, a.body)
		return
	}
	k := keyState{name: name}
	if rand.IntN(2) == 0 {
		a := p.do(context.Background(), "DELETE", "/api/v1/keys/"+name, "", adminToken)
		k.revoked, k.unsure = a.err == nil && a.status == 204, a.err != nil
		if a.err == nil && a.status != 204 {
			c.t.Errorf("revoke %s: %d %s", name, a.status, a.body)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys[made.Secret] = k
}

// check looks whether what was answered is there, and whole.
func (c *chaos) check(p *process) {
	c.t.Helper()
	if c.kept > 0 {
		var list struct {
			Items []struct{ Name, Description string }
		}
		if err := json.Unmarshal([]byte(p.admin(200, "GET", "/teams", "").body), &list); err != nil || len(list.Items) != 3 {
			c.t.Fatalf("teams: %+v, %v", list, err)
		}
		numbers := map[string]bool{}
		var n int
		for _, team := range list.Items {
			numbers[team.Description] = true
			if _, err := fmt.Sscanf(team.Description, "number %d", &n); err != nil {
				c.t.Fatal(err)
			}
		}
		if len(numbers) != 1 || n < c.kept || n > c.last {
			c.t.Errorf("half a change: %v; the last that was answered was %d, the last that was tried %d", numbers, c.kept, c.last)
		}
	}
	p.admin(200, "GET", fmt.Sprintf("/config-versions/%d", p.revision()), "")
	looked := 0
	for secret, k := range c.keys {
		if looked++; looked > 12 { // a few of them, in no order
			break
		}
		a := p.do(context.Background(), "POST", chatPath, gwtest.Chat("gpt-5", false), secret)
		if a.err != nil || !k.unsure && (a.status == 200) == k.revoked {
			c.t.Errorf("key %s, revoked %v: %d %v", k.name, k.revoked, a.status, a.err)
		}
	}
}
