package cli

import (
	"fmt"
	"net"
	"strings"
	"text/tabwriter"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// reachable is the URL of a server for clients on this machine.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "http://" + address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // listens on every address; this one always works
	}
	return "http://" + net.JoinHostPort(host, port)
}

// again is the one line of a start that is not the first.
func (e *environment) again(a *app.App, dataDir string) {
	providers, routes := a.Size()
	fmt.Fprintf(e.out, "Interlock listens on %s, with %s and %s from %s.\n",
		reachable(a.Addr()), count(providers, "provider"), count(routes, "route"), dataDir)
}

// heading is a line above a part of the text.
func (e *environment) heading(format string, args ...any) {
	fmt.Fprintf(e.out, "\n%s\n\n", e.paint(bold, fmt.Sprintf(format, args...)))
}

// lines are indented, so that they stand out as something to copy.
func (e *environment) lines(text string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(text, args...)) {
		if line == "\n" {
			fmt.Fprintln(e.out)
			continue
		}
		if strings.HasPrefix(line, "#") {
			line = e.paint(dim, strings.TrimSuffix(line, "\n")) + "\n"
		}
		fmt.Fprint(e.out, "  ", line)
	}
}

// welcome says, once, what a first start made and how to go on. The secrets in
// it are kept nowhere else in the clear, but for the admin token's file.
func (e *environment) welcome(a *app.App, w *welcome, link string) {
	url := reachable(a.Addr())
	fmt.Fprintf(e.out, "Interlock listens on %s and keeps its data in %s.\n", e.paint(green, url), w.dataDir)
	e.providers(w)
	e.heading("A key for your programs and the token of the administrator. This text is shown once:")
	e.lines("key          %s\n", w.key.Reveal())
	if w.tokenPath != "" {
		e.lines("admin token  %s   (also in %s)\n", w.token.Reveal(), w.tokenPath)
	} else {
		e.lines("admin token  the one that you gave, or that the data folder had already\n")
	}
	if link != "" {
		e.heading("Open the console and make its administrator. The link works once, for an hour:")
		e.lines("%s\n", link)
	}
	e.firstRequest(url, w)
	e.clients(url, w)
	url = reachable(a.AdminAddr())
	model := "MODEL"
	if len(w.found.Providers) > 0 {
		model = w.found.Providers[0].Model
	}
	e.heading("Go on from another terminal:")
	token := "YOUR_ADMIN_TOKEN"
	if w.tokenPath != "" {
		token = w.token.Reveal()
	}
	e.lines("export INTERLOCK_SERVER=%s INTERLOCK_TOKEN=%s\n", url, token)
	e.lines("%s explain --model %s   # where would this go, and why?\n%s keys create ci --expires 30d\n%s export > resources.yaml   # go on with files\n",
		e.program, shellWord(model), e.program, e.program)
	e.lines("# The admin API is at %s/api/v1, its description at %s/api/v1/openapi.json.\n", url, url)
	fmt.Fprintln(e.out)
}

// providers lists what was made of the environment, and what was not.
func (e *environment) providers(w *welcome) {
	if len(w.found.Providers) > 0 {
		e.heading("Made from the keys in the environment:")
		t := tabwriter.NewWriter(e.out, 0, 0, 3, ' ', 0)
		for i := range w.found.Providers {
			p := &w.found.Providers[i]
			fmt.Fprintf(t, "  provider %s\t%s\tserves %s\n", p.Name, p.Env, shortList(p.Serves, 4))
		}
		_ = t.Flush() // to a terminal: nobody could do anything
	}
	for _, s := range w.found.Skipped {
		fmt.Fprintf(e.out, "\n%s %s is set, but %s.\n", e.paint(yellow, "Left out:"), s.Env, s.Why)
	}
}

// shortList names the first few of a list.
func shortList(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
}

// firstRequest is a request that works, or what is missing for one.
func (e *environment) firstRequest(url string, w *welcome) {
	if len(w.found.Providers) == 0 {
		e.heading("There is no provider yet, since no vendor's key is in the environment. Either")
		e.lines("# stop it, and start it with one of these variables set and with a new folder (--data FOLDER):\n%s\n", wrapped(w.unset, 76))
		e.lines("# or make a provider while it runs, from another terminal:\ncurl -X PUT %s/api/v1/providers/anthropic -H \"Authorization: Bearer $INTERLOCK_TOKEN\" \\\n  -H 'content-type: application/json' -d '{\"type\": \"anthropic\", \"apiKey\": \"YOUR_KEY\"}'\n", url)
		e.lines("# or look around first, without any key:\n%s demo\n", e.program)
		return
	}
	p := &w.found.Providers[0]
	e.heading("Send a request:")
	e.lines("%s\n", request(url, p.Format, p.Model, w.key.Reveal()))
}

// request is a curl command for a model.
func request(url string, f llm.Format, model, key string) string {
	const message = `"messages": [{"role": "user", "content": "Hello"}]`
	if f == llm.AnthropicMessages {
		return fmt.Sprintf("curl %s/v1/messages -H 'x-api-key: %s' \\\n  -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' \\\n  -d '{\"model\": \"%s\", \"max_tokens\": 100, %s}'", url, key, model, message)
	}
	return fmt.Sprintf("curl %s/v1/chat/completions -H 'Authorization: Bearer %s' \\\n  -H 'content-type: application/json' \\\n  -d '{\"model\": \"%s\", %s}'", url, key, model, message)
}

// clients are the settings of clients that a provider was found for. They are
// for another terminal: in the server's own, OPENAI_API_KEY is the vendor's.
func (e *environment) clients(url string, w *welcome) {
	has := func(t resource.ProviderType) bool {
		for i := range w.found.Providers {
			if w.found.Providers[i].Type == t {
				return true
			}
		}
		return false
	}
	key, openai := w.key.Reveal(), has(resource.TypeOpenAI)
	if len(w.found.Providers) == 0 {
		return
	}
	e.heading("Point your tools at it. Set these in the terminal of the tool, not of the server:")
	if has(resource.TypeAnthropic) {
		e.lines("# Claude Code\nexport ANTHROPIC_BASE_URL=%s\nexport ANTHROPIC_AUTH_TOKEN=%s\n", url, key)
	}
	if openai || has(resource.TypeOpenAICompatible) {
		if has(resource.TypeAnthropic) {
			fmt.Fprintln(e.out)
		}
		e.lines("# OpenAI SDKs\nexport OPENAI_BASE_URL=%s/v1\nexport OPENAI_API_KEY=%s\n", url, key)
	}
	if openai {
		e.lines("\n# Codex: in ~/.codex/config.toml, with INTERLOCK_KEY=%s in its environment\nmodel_provider = \"interlock\"\n[model_providers.interlock]\nname = \"Interlock\"\nbase_url = \"%s/v1\"\nenv_key = \"INTERLOCK_KEY\"\nwire_api = \"responses\"\n", key, url)
	}
}

// wrapped puts words into lines.
func wrapped(words []string, width int) string {
	var b strings.Builder
	n := 0
	for i, w := range words {
		switch {
		case i == 0:
		case n+1+len(w) > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(w)
		n += len(w)
	}
	return b.String()
}

// shellWord quotes a word of the shell where it needs that.
func shellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
