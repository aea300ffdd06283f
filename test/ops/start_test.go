//go:build unix

package ops

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// TestBY_5_second_start_changes_nothing: the version, the objects and the key
// are as they were, in both modes.
func TestBY_5_second_start_changes_nothing(t *testing.T) {
	fake := gwtest.NewFake(t)
	for _, mode := range []string{"seed", "enforce"} {
		t.Run(mode, func(t *testing.T) {
			s := newSite(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
			s.mode = mode
			p := s.start()
			p.chat(200)
			export, revision := p.admin(200, "GET", "/export", "").body, p.revision()
			for range 2 {
				p.stop()
				p = s.start()
				if got := p.revision(); got != revision {
					t.Errorf("version %d, want %d", got, revision)
				}
				if got := p.admin(200, "GET", "/export", "").body; got != export {
					t.Errorf("exported\n%s\nwant\n%s", got, export)
				}
				p.chat(200)
			}
			p.stop()
		})
	}
}

// TestOP_6_one_process_a_folder: a second process on the same data ends with
// an error that says so, and the first goes on.
func TestOP_6_one_process_a_folder(t *testing.T) {
	fake := gwtest.NewFake(t)
	s := newSite(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	p := s.start()
	second := s.launch()
	if code := second.wait(); code != 1 || !strings.Contains(second.log.String(), "another process uses it") || !strings.Contains(second.log.String(), s.path("data/spool")) {
		t.Errorf("the second ended with %d:\n%s", code, second.log)
	}
	p.chat(200)
	p.stop()
}

// TestOP_4_database_may_not_be_read: a start with the last configuration, and
// recovery when the permission is back.
func TestOP_4_database_may_not_be_read(t *testing.T) {
	fake := gwtest.NewFake(t)
	s := newSite(t)
	if os.Getuid() == 0 { // who may read everything; so somebody else runs it
		dir, err := os.MkdirTemp("", "interlock-ops-") //nolint:usetesting // t.TempDir is below a folder that only root may enter
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		s.dir, s.user = dir, 65534
		s.own(".")
		s.write("admin-token", adminToken)
	}
	s.documents(fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	p := s.start()
	p.chat(200)
	p.stop()
	if err := os.Chmod(s.database(), 0); err != nil {
		t.Fatal(err)
	}
	p = s.start()
	p.chat(200)
	p.logged("started with the last good configuration")
	const change = `{"type":"openai","baseUrl":"http://127.0.0.1:9/v1"}`
	p.admin(503, "PUT", "/providers/b", change)
	if err := os.Chmod(s.database(), 0o600); err != nil {
		t.Fatal(err)
	}
	poll(t, "changes are taken", func() bool {
		return p.do(t.Context(), "PUT", "/api/v1/providers/b", change, adminToken).status < 300
	})
	p.chat(200)
	p.stop()
	if n := len(stored(t, s.database())); n != 5 { // three requests, two changes
		t.Errorf("%d records", n)
	}
}

// TestCF_1_start_refused: a file with problems ends the start with code 1 and
// every place.
func TestCF_1_start_refused(t *testing.T) {
	s := newSite(t, "kind: Provider\nname: a\ntype: openai\napiKey: env:INTERLOCK_TEST_NOT_SET", gwtest.Route("r", "gpt-5", "nobody"))
	p := s.launch()
	if code := p.wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"resources.yaml:4:", "INTERLOCK_TEST_NOT_SET"} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("it does not say %s:\n%s", want, p.log)
		}
	}
	// What only the whole configuration shows has its place, too.
	s.documents(gwtest.Route("r", "gpt-5", "nobody"))
	p = s.launch()
	if code := p.wait(); code != 1 || !strings.Contains(p.log.String(), "resources.yaml:5:") || !strings.Contains(p.log.String(), `"nobody"`) {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
}

// TestOP_6_graceful_stop: SIGTERM ends it with code 0 after the running stream
// ended well, with everything recorded in the store.
func TestOP_6_graceful_stop(t *testing.T) {
	fake := gwtest.NewFake(t)
	s := newSite(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	p := s.start()
	ids := map[string]bool{}
	for range 5 {
		ids[p.chat(200).header.Get("X-Interlock-Request-Id")] = true
	}
	fake.Rules(t, fakellm.Rule{GapMS: 40, Reply: &fakellm.Reply{Chunks: 25, ChunkText: "word "}})
	before := fake.Requests()
	answers := make(chan answer, 3)
	for range 3 {
		go func() { answers <- p.do(t.Context(), "POST", chatPath, gwtest.Chat("gpt-5", true), key) }()
	}
	poll(t, "streams run", func() bool { return fake.Requests() == before+3 })
	p.signal(syscall.SIGTERM)
	p.logged("stopping")
	for range 3 {
		a := <-answers
		if a.err != nil || a.status != 200 || !strings.HasSuffix(strings.TrimSpace(a.body), "data: [DONE]") || strings.Count(a.body, "word ") != 25 {
			t.Errorf("a stream that ran: %d %v %.200q", a.status, a.err, a.body)
		}
		ids[a.header.Get("X-Interlock-Request-Id")] = true
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
	if strings.Contains(p.log.String(), `"level":"ERROR"`) {
		t.Errorf("the log has errors:\n%s", p.log)
	}
	counts := map[string]int{}
	for _, r := range stored(t, s.database()) {
		counts[r.RequestID]++
	}
	for id := range ids {
		if counts[id] != 1 {
			t.Errorf("request %s has %d records in the store", id, counts[id])
		}
	}
}

// TestOP_6_second_signal: it cuts the drain short, with an error in the
// stream, and still ends with everything recorded.
func TestOP_6_second_signal(t *testing.T) {
	fake := gwtest.NewFake(t)
	s := newSite(t, fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	p := s.start()
	fake.Rules(t, fakellm.Rule{Action: fakellm.ActionStall, After: 3})
	done := make(chan answer, 1)
	go func() { done <- p.do(t.Context(), "POST", chatPath, gwtest.Chat("gpt-5", true), key) }()
	poll(t, "the stream runs", func() bool { return fake.InFlight() == 1 })
	p.signal(syscall.SIGTERM)
	p.logged("stopping")
	p.signal(syscall.SIGTERM)
	a := <-done
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
	if a.status == 200 && !strings.Contains(a.body, "error") {
		t.Errorf("the stream ended as if it were whole: %s", a.body)
	}
	if n := len(stored(t, s.database())); n != 2 { // the request and the seed
		t.Errorf("%d records", n)
	}
}
