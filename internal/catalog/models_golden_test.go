package catalog

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// builtIn lists the exact names of the built-in table, sorted.
func builtIn(t *Models) []vendorName {
	return slices.SortedFunc(maps.Keys(t.layers[len(t.layers)-1].exact), func(a, b vendorName) int {
		return cmp.Or(cmp.Compare(a.vendor, b.vendor), cmp.Compare(a.name, b.name))
	})
}

// TestModels_RS_MODEL_golden: a change of the table shows as a change of a
// table.
func TestModels_RS_MODEL_golden(t *testing.T) {
	models := mustLoadModels(t)
	var b strings.Builder
	b.WriteString("# vendor | name | kind | family | window | longest answer | input / output / cache read / write 5m / write 1h\n")
	for _, k := range builtIn(models) {
		m := &models.layers[0].exact[k].model
		if k.name != m.Name {
			fmt.Fprintf(&b, "%s | %s = %s\n", cmp.Or(k.vendor, "*"), k.name, m.Name)
			continue
		}
		fmt.Fprintln(&b, describe(m))
	}
	for _, g := range models.layers[0].globs {
		fmt.Fprintln(&b, describe(&g.entry.model))
	}
	path := filepath.Join("testdata", "models.golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("(-want +got; run with -update after a deliberate change):\n%s", d)
	}
}

func describe(m *Model) string {
	text := fmt.Sprintf("%s | %s | %s | %s | %d | %d | %s", cmp.Or(m.Vendor, "*"), m.Name, cmp.Or(m.Modality, "?"),
		cmp.Or(m.Family, "?"), m.ContextWindow, m.MaxOutputTokens, priceList(&m.Prices))
	if m.Above.Tokens > 0 {
		text += fmt.Sprintf(" | above %d: %s", m.Above.Tokens, priceList(&m.Above.Prices))
	}
	return text + " | " + m.Source + " | " + m.Observed
}

func priceList(p *Prices) string {
	var list []string
	for _, p := range []Price{p.Input, p.Output, p.CacheRead, p.CacheWrite5m, p.CacheWrite1h} {
		text := "-"
		if p.Known {
			text = strconv.FormatFloat(p.USD, 'f', -1, 64)
		}
		list = append(list, text)
	}
	return strings.Join(list, " / ")
}

// The published list prices, typed once more from their sources and not from
// the files: vendor, name, window, input, output, cache read, cache write, and
// what is behind "above" in the same order.
const listPrices = `
anthropic claude-fable-5-1 1000000 10 50 0.25 12.5
anthropic claude-fable-5 1000000 10 50 1.00 12.5
anthropic claude-mythos-5 1000000 10 50 1.00 12.5
anthropic claude-opus-5-5 1000000 4 20 0.20 5
anthropic claude-opus-5 1000000 5 25 0.50 6.25
anthropic claude-opus-4-8 1000000 5 25 0.50 6.25
anthropic claude-opus-4-7 1000000 5 25 0.50 6.25
anthropic claude-opus-4-6 1000000 5 25 0.50 6.25
anthropic claude-opus-4-5 200000 5 25 0.50 6.25
anthropic claude-opus-4-1 200000 15 75 1.50 18.75
anthropic claude-sonnet-5-5 1000000 2 10 0.10 2.5
anthropic claude-sonnet-5 1000000 2 10 0.20 2.5
anthropic claude-sonnet-4-6 1000000 3 15 0.30 3.75
anthropic claude-sonnet-4-5 200000 3 15 0.30 3.75 above 200000 6 22.5 0.6 7.5
anthropic claude-haiku-5-5 0 0.10 0.50 0.01 0.125 above 100000 0.50 2.50 0.05 0.625
anthropic claude-haiku-4-5 200000 1 5 0.10 1.25
openai gpt-6-astra 1050000 10 50 1.00 12.5
openai gpt-6-sol 1050000 2 10 0.20 -
openai gpt-6.1-sol 1050000 2 10 0.10 -
openai gpt-6.1-terra 1050000 1 5 0.05 1.25
openai gpt-6-luna 1050000 0.10 0.50 0.01 0.125
openai gpt-5.6-sol 1050000 5 30 0.50 6.25 above 272000 10 45 - -
openai gpt-5.6-terra 1050000 2 12 0.20 2.5 above 272000 4 18 - -
openai gpt-5.6-luna 1050000 0.20 1.20 0.02 - above 272000 0.4 1.8 - -
openai gpt-5.5 1050000 5 30 0.50 - above 272000 10 45 1 -
openai gpt-5.5-pro 1050000 30 180 - -
openai gpt-5.4-pro 1050000 30 180 - -
openai gpt-5.4 1050000 2.5 15 0.25 - above 272000 5 22.5 0.5 -
openai gpt-5.4-mini 400000 0.75 4.5 0.075 -
openai gpt-5.4-nano 400000 0.20 1.25 0.02 -
openai gpt-5.3-codex 400000 1.75 14 0.175 -
openai gpt-5.2 400000 1.75 14 0.175 -
openai gpt-5.1 400000 1.25 10 0.125 -
openai gpt-5 400000 1.25 10 0.125 -
openai gpt-5.1-codex 400000 1.25 10 0.125 -
openai gpt-5-codex 400000 1.25 10 0.125 -
openai gpt-5-mini 400000 0.25 2 0.025 -
openai gpt-5-nano 400000 0.05 0.40 0.005 -
openai gpt-4.1 1047576 2 8 0.5 -
openai gpt-4.1-mini 1047576 0.4 1.6 0.1 -
openai gpt-4.1-nano 1047576 0.1 0.4 0.025 -
openai gpt-4o 128000 2.5 10 1.25 -
openai gpt-4o-mini 128000 0.15 0.6 0.075 -
openai o3 200000 2 8 0.5 -
openai o4-mini 200000 1.1 4.4 0.275 -
openai text-embedding-3-small 8191 0.02 - - -
openai text-embedding-3-large 8191 0.13 - - -
gemini gemini-3.8-flash 1048576 0.75 3.75 0.075 -
gemini gemini-3.7-flash 1048576 0.75 3.75 0.075 -
gemini gemini-3.6-flash 1000000 1.5 7.5 0.15 -
gemini gemini-3.5-flash 1000000 1.5 9 0.15 -
gemini gemini-3.5-flash-lite 1000000 0.30 2.50 0.03 -
gemini gemini-3.1-pro-preview 1000000 2 12 0.20 - above 200000 4 18 0.4 -
gemini gemini-3.1-flash-lite 1000000 0.25 1.5 0.025 -
gemini gemini-3-flash-preview 1000000 0.50 3 0.05 -
gemini gemini-2.5-pro 1000000 1.25 10 0.125 - above 200000 2.5 15 0.25 -
gemini gemini-2.5-flash 1000000 0.30 2.5 0.03 -
gemini gemini-2.5-flash-lite 1000000 0.10 0.4 0.01 -
deepseek deepseek-v4-flash 1000000 0.14 0.28 0.0028 -
deepseek deepseek-v4-pro 1000000 0.435 0.87 0.003625 -
kimi kimi-k3 1048576 3 15 0.30 -
kimi kimi-k2.7-code 262144 0.95 4 0.19 -
kimi kimi-k2.7-code-highspeed 262144 1.9 8 0.38 -
kimi kimi-k2.6 262144 0.95 4 0.16 -
kimi kimi-k2.5 262144 0.6 3 0.10 -
zai glm-5.3 1000000 1.4 4.4 0.26 -
zai glm-5.1 204800 1.4 4.4 0.26 -
zai glm-5 204800 1.0 3.2 0.20 -
zai glm-5-turbo 200000 1.2 4.0 0.24 -
zai glm-4.7 204800 0.6 2.2 0.11 -
zai glm-4.6 204800 0.6 2.2 0.11 -
zai glm-4.7-flash 200000 0.07 0.4 0.01 -
zai glm-4.5-air 131072 0.2 1.1 0.03 -
xai grok-4.6 200000 2 6 0.50 -
xai grok-4.5 500000 2 6 0.30 - above 200000 4 12 0.6 -
xai grok-4.3 1000000 1.25 2.5 0.20 - above 200000 2.5 5 0.4 -
xai grok-4.20 1000000 1.25 2.5 0.20 - above 200000 2.5 5 0.4 -
xai grok-build-0.1 0 1 2 0.20 - above 200000 2 4 0.4 -
mistral mistral-large-latest 262144 0.5 1.5 - -
mistral mistral-large-2512 262144 0.5 1.5 - -
mistral mistral-medium-2604 262144 1.5 7.5 - -
mistral mistral-medium-latest 262144 0.4 2 - -
mistral mistral-small-latest 256000 0.15 0.6 - -
mistral codestral-latest 256000 0.3 0.9 - -
mistral devstral 262144 0.4 2 - -
mistral magistral-medium-latest 128000 2 5 - -
groq llama-3.3-70b-versatile 131072 0.59 0.79 - -
groq llama-3.1-8b-instant 131072 0.05 0.08 - -
groq openai/gpt-oss-120b 131072 0.15 0.6 0.075 -
groq openai/gpt-oss-20b 131072 0.075 0.3 0.0375 -
groq qwen/qwen3-32b 131072 0.29 0.59 - -
groq meta-llama/llama-4-scout-17b-16e-instruct 131072 0.11 0.34 - -
cerebras gpt-oss-120b 131072 0.35 0.75 - -
`

func TestFind_RT_STRAT_COST_list_prices(t *testing.T) {
	models := mustLoadModels(t)
	seen := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(listPrices)) {
		w := strings.Fields(line)
		m := find(t, models, w[0], w[1])
		seen[m.Vendor+" "+m.Name] = true
		window, err := strconv.Atoi(w[2])
		if err != nil {
			t.Fatal(err)
		}
		if m.ContextWindow != window || m.Estimated {
			t.Errorf("%s: window %d, estimated %v", w[1], m.ContextWindow, m.Estimated)
		}
		checkPrices(t, w[1], w[3:7], &m.Prices)
		// The vendor's price rules: an hour costs twice the input.
		if in, hour := m.Prices.Input.USD, m.Prices.CacheWrite1h; w[0] == "anthropic" && hour != USD(2*in) || w[0] != "anthropic" && hour.Known {
			t.Errorf("%s: write 1h %v", w[1], hour)
		}
		if len(w) == 7 {
			w = append(w, "above", "0", "-", "-", "-", "-")
		}
		if strconv.Itoa(m.Above.Tokens) != w[8] {
			t.Errorf("%s: above %d", w[1], m.Above.Tokens)
		}
		checkPrices(t, w[1]+" above", w[9:], &m.Above.Prices)
	}
	for _, k := range builtIn(models) {
		m := &models.layers[0].exact[k].model
		if !m.Prices.none() && !seen[m.Vendor+" "+m.Name] && !strings.HasSuffix(m.Name, "[1m]") {
			t.Errorf("%s has prices that are on no list", k.name)
		}
	}
}

func checkPrices(t *testing.T, name string, want []string, p *Prices) {
	t.Helper()
	for i, got := range []Price{p.Input, p.Output, p.CacheRead, p.CacheWrite5m} {
		usd, err := strconv.ParseFloat(want[i], 64)
		if got.Known != (err == nil) || got.USD != usd {
			t.Errorf("%s: price %d is %v, want %s", name, i, got, want[i])
		}
	}
}
