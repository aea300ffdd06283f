package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

const (
	claudeModel    = "claude-sonnet-4-6"
	gptModel       = "gpt-5.2"
	embeddingModel = "text-embedding-3-small"
	unknownModel   = "nobody-serves-this"

	key      = gwtest.Key
	wrongKey = "ilk_wrong_0123456789abcdef4567"

	fakeText = "Hello from the fake provider."
	// toolText is said only to a request that has toolResult in it, which is
	// what the tool gives and no request has before it ran.
	toolText   = "The tool was run and its result is here."
	toolResult = "result 42"
	// failoverPrompt is in drivers/run.mjs and drivers/run.py, too.
	failoverPrompt = "Use the second provider."
	failoverText   = "The second provider is here."
)

// gateway is the real program with its configuration in a folder of its own,
// and two providers for each of the vendors' formats.
type gateway struct {
	t              *testing.T
	url            string
	first, second  *gwtest.Fake // Anthropic's
	gpt, gptAtLast *gwtest.Fake // OpenAI's
	log            *buffer
	stop           func() // ends the program; it has to end well
}

func startGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{t: t, first: gwtest.NewFake(t), second: gwtest.NewFake(t), gpt: gwtest.NewFake(t), gptAtLast: gwtest.NewFake(t), log: &buffer{}}
	dir := t.TempDir()
	resources := strings.Join([]string{
		g.first.Anthropic("anthropic-1", "staticModels: ["+claudeModel+"]"),
		g.second.Anthropic("anthropic-2", "staticModels: ["+claudeModel+"]"),
		g.gpt.OpenAI("openai-1", "staticModels: ["+gptModel+", "+embeddingModel+"]"),
		g.gptAtLast.OpenAI("openai-2", "staticModels: ["+gptModel+", "+embeddingModel+"]"),
		gwtest.Route("claude", `"claude-*"`, "anthropic-1", "anthropic-2"),
		gwtest.Route("gpt", `"gpt-*", "text-embedding-*"`, "openai-1", "openai-2"),
		"kind: Key\nname: clients\ntype: service\nsecret: " + key,
	}, "\n---\n") + "\n"
	settings := fmt.Sprintf("server: {listen: 127.0.0.1:0}\nstorage: {url: %q, dataDir: %q}\nresources: {mode: enforce, files: [resources.yaml]}\n",
		"sqlite:"+filepath.Join(dir, "data", "interlock.db"), filepath.Join(dir, "data"))
	write(t, filepath.Join(dir, "resources.yaml"), resources)
	write(t, filepath.Join(dir, "interlock.yaml"), settings)

	cmd := exec.Command(os.Getenv(binaryVariable), "serve", "--config", filepath.Join(dir, "interlock.yaml"))
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.SysProcAttr = []string{}, dir, g.log, dieWithTest()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	g.stop = sync.OnceFunc(func() { stop(t, cmd, exited, g.log) })
	t.Cleanup(func() {
		g.stop()
		if t.Failed() {
			t.Logf("the gateway's log:\n%s", g.log)
		}
	})
	g.url = listening(t, g.log, exited)
	return g
}

// listening waits for the address in the log.
func listening(t *testing.T, log *buffer, exited <-chan error) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		for line := range strings.SplitSeq(log.String(), "\n") {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
				return "http://" + entry.Address
			}
		}
		select {
		case err := <-exited:
			t.Fatalf("it ended with %v:\n%s", err, log)
		case <-time.After(5 * time.Millisecond): // it is another process
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not listen:\n%s", log)
		}
	}
}

// stop ends the program, which has to end well.
func stop(t *testing.T, cmd *exec.Cmd, exited <-chan error, log *buffer) {
	t.Helper()
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case err := <-exited:
		if err != nil {
			t.Errorf("the gateway ended with %v:\n%s", err, log)
		}
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		t.Errorf("the gateway did not end:\n%s", log)
	}
}

// refused counts the requests that were answered with a code. The log has them
// all only when the gateway has ended, so this ends it.
func (g *gateway) refused(code string) int {
	g.t.Helper()
	g.stop()
	n := 0
	for line := range strings.Lines(g.log.String()) {
		var entry struct{ Msg, Code, Endpoint string }
		// Lists of models are asked for beside, when a client likes.
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "request" && entry.Code == code && entry.Endpoint != "models" {
			n++
		}
	}
	return n
}

// script lets the first members call tool when a request matches when, at most
// so many times, and say toolText to its result. A request with failoverPrompt finds them down, and
// the second ones there. Everything else gets the usual text.
func (g *gateway) script(when string, times int, tool fakellm.Tool) {
	g.t.Helper()
	for _, f := range []*gwtest.Fake{g.first, g.gpt} {
		f.Rules(g.t,
			fakellm.Rule{Name: "down", BodyRE: failoverPrompt, Action: fakellm.ActionStatus, Status: 503},
			fakellm.Rule{Name: "answer", BodyRE: toolResult, Reply: &fakellm.Reply{Text: toolText}},
			fakellm.Rule{Name: "call", BodyRE: when, Times: times, Reply: &fakellm.Reply{Text: "I look it up.", Tools: []fakellm.Tool{tool}}})
	}
	for _, f := range []*gwtest.Fake{g.second, g.gptAtLast} {
		f.Rules(g.t, fakellm.Rule{Name: "up", BodyRE: failoverPrompt, Reply: &fakellm.Reply{Text: failoverText}})
	}
}

// members are the providers of a vendor's format, in the route's order.
func (g *gateway) members(v vendor) (first, second *gwtest.Fake) {
	if v == anthropicFormat {
		return g.first, g.second
	}
	return g.gpt, g.gptAtLast
}

// asked checks which rules a provider was asked by, in order.
func asked(t *testing.T, f *gwtest.Fake, want ...string) {
	t.Helper()
	var rules []string
	for _, r := range f.Records() {
		if r.Rule != "" {
			rules = append(rules, r.Rule)
		}
	}
	if !slices.Equal(rules, want) {
		t.Errorf("a provider was asked by the rules %q, want %q", rules, want)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
