package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
)

const (
	helloPrompt = "Say hello."
	taskPrompt  = "Multiply with your tool."
	// command is what the agents' shells run. Its output is toolResult, which
	// no request has before it ran.
	command = "echo result $((6*7))"
)

// agent is a coding agent: ask runs it with a prompt and gives what people see
// as its answer, and everything that it wrote.
type agent struct {
	speaks vendor
	tool   fakellm.Tool
	ask    func(t *testing.T, g *gateway, model, key, prompt string) (answer, all string, err error)
}

// try runs the agent through its checks.
func (a agent) try(t *testing.T, e *entry) {
	t.Helper()
	g := startGateway(t)
	g.script(taskPrompt, 1, a.tool)
	for _, c := range []struct{ check, model, key, prompt, want string }{
		{stream, a.speaks.model(), key, helloPrompt, fakeText},
		{streamedTools, a.speaks.model(), key, taskPrompt, toolText},
		{failover, a.speaks.model(), key, failoverPrompt, failoverText},
	} {
		answer, all, err := a.ask(t, g, c.model, c.key, c.prompt)
		ok := err == nil && answer == c.want
		if !ok {
			t.Errorf("%s: %v: %q\n%s", c.check, err, answer, all)
		}
		e.set(c.check, ok)
	}
	first, second := g.members(a.speaks)
	asked(t, first, "call", "answer", "down")
	asked(t, second, "up")
	for _, c := range []struct{ check, model, key, want string }{
		{unknown, unknownModel, key, "NO_ROUTE: no route serves the model"},
		{wrong, a.speaks.model(), wrongKey, `invalid_api_key: the key ending in "4567"`},
	} {
		_, all, err := a.ask(t, g, c.model, c.key, helloPrompt)
		ok := err != nil && strings.Contains(all, c.want)
		if !ok {
			t.Errorf("%s: %v:\n%s", c.check, err, all)
		}
		e.set(c.check, ok)
		for line := range strings.Lines(all) {
			if strings.Contains(line, c.want) {
				e.say(c.check, line) // the last one, since some are repeated
			}
		}
	}
	e.count(g)
}

// native finds the program of an agent, which comes in a package for the
// machine's kind.
func native(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache(t), "node_modules", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %q (%v): run make test-clients", pattern, found, err)
	}
	return found[0]
}

func claudeCode(t *testing.T, e *entry) {
	program := native(t, "@anthropic-ai/claude-code-*/claude")
	if v := run(t, t.TempDir(), []string{program, "--version"}); !strings.HasPrefix(v.stdout, e.version+" ") {
		t.Errorf("the version is %q, want %s", v.stdout, e.version)
	}
	input := json.RawMessage(fmt.Sprintf(`{"command":%q,"description":"Multiply"}`, command))
	agent{anthropicFormat, fakellm.Tool{Name: "Bash", Input: input}, func(t *testing.T, g *gateway, model, key, prompt string) (answer, all string, err error) {
		t.Helper()
		out := run(t, t.TempDir(), []string{program, "-p", prompt, "--model", model, "--allowedTools", "Bash"},
			"ANTHROPIC_BASE_URL="+g.url, "ANTHROPIC_AUTH_TOKEN="+key, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
		return strings.TrimSpace(out.stdout), out.stdout + out.stderr, out.err
	}}.try(t, e)
}

func codexHTTP(t *testing.T, e *entry) { codex(t, e, false, "") }

// codexWebSocket asks for a WebSocket first, is refused with 426 and goes on
// over HTTP. It is told not to repeat what Interlock refused.
func codexWebSocket(t *testing.T, e *entry) {
	codex(t, e, true, "supports_websockets = true\nrequest_max_retries = 0\nstream_max_retries = 0\n")
}

// codex runs Codex with more settings of its provider.
func codex(t *testing.T, e *entry, webSocket bool, more string) {
	t.Helper()
	program := native(t, "@openai/codex-*/vendor/*/bin/codex")
	if v := run(t, t.TempDir(), []string{program, "--version"}); strings.TrimSpace(v.stdout) != "codex-cli "+e.version {
		t.Errorf("the version is %q, want %s", v.stdout, e.version)
	}
	input := json.RawMessage(fmt.Sprintf(`{"cmd":%q}`, command))
	agent{openAIFormat, fakellm.Tool{Name: "exec_command", Input: input}, func(t *testing.T, g *gateway, model, key, prompt string) (answer, all string, err error) {
		t.Helper()
		home := t.TempDir()
		config := codexConfig(g.url, model) + more
		if !webSocket {
			config += fmt.Sprintf("model_catalog_url = %q\n", g.url+"/v1/models")
		}
		write(t, filepath.Join(home, "config.toml"), config)
		// Its own sandbox needs rights that a machine for tests may not give.
		out := run(t, home, []string{program, "exec", "--skip-git-repo-check", "-s", "danger-full-access", prompt},
			"CODEX_HOME="+home, "INTERLOCK_KEY="+key)
		// Any status but 426 makes it try the WebSocket again.
		if n := strings.Count(out.stderr, "failed to connect to Responses WebSocket"); webSocket && n != 1 || !webSocket && n != 0 {
			t.Errorf("it tried a WebSocket %d times:\n%s", n, out.stderr)
		}
		// A catalogue that it can't read is an error; a model that is not in it,
		// a warning.
		for _, complaint := range []string{"failed to refresh available models", "Model metadata for `" + openAIFormat.model() + "` not found"} {
			if !webSocket && strings.Contains(out.stderr, complaint) && key != wrongKey {
				t.Errorf("it does not take the model list:\n%s", out.stderr)
			}
		}
		return strings.TrimSpace(out.stdout), out.stdout + out.stderr, out.err
	}}.try(t, e)
}

// codexConfig is what docs/how-to/connect-clients.md says; the last section is
// the provider's.
func codexConfig(url, model string) string {
	return fmt.Sprintf(`model = %q
model_provider = "interlock"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.interlock]
name = "Interlock"
base_url = %q
wire_api = "responses"
env_key = "INTERLOCK_KEY"
`, model, url+"/v1")
}
