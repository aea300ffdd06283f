//go:build unix

package ops

import (
	"strings"
	"syscall"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// hup sends SIGHUP and waits for what the log says then.
func (p *process) hup(words string) {
	p.t.Helper()
	before := strings.Count(p.log.String(), words)
	p.signal(syscall.SIGHUP)
	poll(p.t, "the log says "+words, func() bool { return strings.Count(p.log.String(), words) > before })
}

// TestOP_6_SIGHUP: resources that the file enforces, the log level and the
// admin tokens change without a restart; a broken file changes nothing and is
// reported with its place.
func TestOP_6_SIGHUP(t *testing.T) {
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	s := newSite(t, a.OpenAI("a"), b.OpenAI("b"), gwtest.Route("r", "gpt-5", "a"))
	s.mode = "enforce"
	p := s.start()
	served := func(want string) {
		t.Helper()
		if got := p.chat(200).header.Get("X-Interlock-Provider"); got != want {
			t.Fatalf("served by %q, want %q", got, want)
		}
	}
	served("a")
	s.documents(a.OpenAI("a"), b.OpenAI("b"), gwtest.Route("r", "gpt-5", "b"))
	p.hup("the configuration file was reloaded")
	served("b")
	revision := p.revision()

	for name, broken := range map[string]struct{ text, place string }{
		"YAML":             {"kind: Provider\nname: [", "resources.yaml:2:"},
		"an unknown field": {"kind: Provider\nname: a\ntypo: openai", "resources.yaml:3:"},
		"a whole problem":  {gwtest.Route("r", "gpt-5", "nobody"), "resources.yaml:5:"},
	} {
		good := s.read("resources.yaml")
		s.documents(broken.text)
		p.hup("not reloaded")
		if !strings.Contains(p.log.String(), broken.place) {
			t.Errorf("%s: the log has no %s:\n%s", name, broken.place, p.log)
		}
		served("b")
		if got := p.revision(); got != revision {
			t.Errorf("%s: version %d, want %d", name, got, revision)
		}
		s.write("resources.yaml", good)
	}

	if strings.Contains(p.log.String(), `"level":"DEBUG"`) {
		t.Error("debug lines before")
	}
	s.write("other-token", "another-token-of-the-tests-0123456789")
	s.settings = "telemetry: {logLevel: debug}\nauth: {adminTokens: [file:" + s.path("other-token") + "]}"
	s.configure()
	p.hup("the configuration file was reloaded")
	served("b")
	p.logged(`"level":"DEBUG"`)
	p.admin(401, "GET", "/providers", "")
	if a := p.do(t.Context(), "GET", "/api/v1/providers", "", "another-token-of-the-tests-0123456789"); a.status != 200 {
		t.Errorf("the new token: %d %s", a.status, a.body)
	}
	p.stop()
}
