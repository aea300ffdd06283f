package dataplane

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
)

const asAnthropic = "Anthropic-Version: 2023-06-01"

// startListing has model names of every origin, in every state. It returns
// all of them.
func startListing(t *testing.T) (gw *gwtest.Server, names []string) {
	t.Helper()
	a, b := gwtest.NewFake(t), gwtest.NewFake(t)
	plain := func(name, typ string, more ...string) string {
		return "kind: Provider\nname: " + name + "\ntype: " + typ + "\nbaseUrl: " + a.URL + "/v1\n" + strings.Join(more, "\n")
	}
	route := func(name, patterns, member, more string) string {
		return gwtest.Route(name, patterns, member) + "\n" + more
	}
	gw = gwtest.Start(t,
		a.Anthropic("claude-home", "staticModels: [claude-static, static-without-route]", "modelAliases: {claude-alias: w, Claude-Mixed-Alias: w, alias-without-route: w}"),
		b.OpenAI("gpt-home", "staticModels: [gpt-static]", "modelAliases: {gpt-alias: w}"),
		route("claude", `"claude-*", "exact", "vendor/name:tag", "Mixed-Case", "with space", "ä-model", "a%b", "dots/../up", "q?x=1#y"`, "claude-home", ""),
		route("gpt", `"gpt-*", "*-mini", "exact-gpt"`, "gpt-home", ""),
		b.OpenAI("own-route", `modelPatterns: [own-exact, "own-*"]`, "staticModels: [own-static, elsewhere-static]"),
		plain("no-key", "anthropic", "staticModels: [nokey-static]"), route("no-key-route", `"nokey-exact", "nokey-*"`, "no-key", ""),
		b.OpenAI("drained", "drained: true"), route("drained-route", `"drained-exact"`, "drained", ""),
		b.OpenAI("off", "enabled: false", "staticModels: [off-static]", "modelPatterns: [off-own]"), route("off-route", `"off-exact"`, "off", ""),
		b.OpenAI("spare"), route("disabled-route", `"disabled-exact"`, "spare", "enabled: false"),
		"kind: Model\nname: claude-catalogued", "kind: Model\nname: catalogued-without-route", "kind: Model\nname: claude-off\nenabled: false", `kind: Model
name: "claude-glob-*"`)
	return gw, []string{
		"claude-static", "static-without-route", "claude-alias", "Claude-Mixed-Alias", "alias-without-route", "gpt-static", "gpt-alias",
		"exact", "vendor/name:tag", "Mixed-Case", "with space", "ä-model", "a%b", "dots/../up", "q?x=1#y", "exact-gpt", "own-exact", "own-static", "elsewhere-static",
		"nokey-static", "nokey-exact", "drained-exact", "off-static", "off-own", "off-exact", "disabled-exact", "claude-catalogued", "catalogued-without-route",
	}
}

// listed reads a model list of any shape.
func listed(t *testing.T, got gwtest.Answer) []string {
	t.Helper()
	var list struct {
		Data []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(got.Body), &list); err != nil || got.Status != 200 {
		t.Fatalf("%d %v %s", got.Status, err, got.Body)
	}
	ids := make([]string, len(list.Data))
	for i, m := range list.Data {
		ids[i] = m.ID
	}
	return ids
}

// callable tells whether some endpoint serves the model.
func callable(t *testing.T, gw *gwtest.Server, model string) bool {
	t.Helper()
	for _, e := range formats.Endpoints() {
		q, err := json.Marshal(model)
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Replace(endpointBody(t, e, "@"), `"@"`, string(q), 1)
		if got := gw.Post(t, e.Paths[0], body); got.Status == 200 {
			return true
		}
	}
	return false
}

func TestR88_listed_if_and_only_if_callable(t *testing.T) {
	gw, names := startListing(t)
	for shape, header := range map[string]string{"openai": "Accept: */*", "anthropic": asAnthropic} {
		t.Run(shape, func(t *testing.T) {
			ids := listed(t, gw.Do(t, "GET", "/v1/models?limit=1000", "", header))
			yes, no := 0, 0
			for _, name := range names {
				inList := slices.ContainsFunc(ids, func(id string) bool { return strings.EqualFold(id, name) })
				can := callable(t, gw, name)
				if inList != can {
					t.Errorf("%s: listed %t, callable %t", name, inList, can)
				}
				if can {
					yes++
				} else {
					no++
				}
				if got := gw.Do(t, "GET", "/v1/models/"+url.PathEscape(name), "", header); (got.Status == 200) != can || got.Status != 200 && got.Status != 404 {
					t.Errorf("%s by itself: %d, callable %t", name, got.Status, can)
				}
			}
			if yes < 10 || no < 8 {
				t.Errorf("%d callable and %d not: the test has lost its point", yes, no)
			}
			for i, id := range ids {
				if !callable(t, gw, id) {
					t.Errorf("%s is listed and can't be called", id)
				}
				if slices.ContainsFunc(ids[:i], func(other string) bool { return strings.EqualFold(id, other) }) {
					t.Errorf("%s is listed twice", id)
				}
				if strings.Contains(id, "*") {
					t.Errorf("the pattern %s is listed as a model", id)
				}
			}
		})
	}
}

func TestRQ_EP_model_list_shapes(t *testing.T) {
	gw, _ := startListing(t)
	type object = map[string]any
	keys := func(o object) string {
		var out []string
		for k := range o {
			out = append(out, k)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	decode := func(t *testing.T, got gwtest.Answer) object {
		t.Helper()
		var o object
		if err := json.Unmarshal([]byte(got.Body), &o); err != nil || got.Status != 200 || got.Header.Get("Content-Type") != "application/json" {
			t.Fatalf("%d %v %v %s", got.Status, err, got.Header, got.Body)
		}
		if len(got.Header.Get("X-Interlock-Request-Id")) != 26 {
			t.Errorf("%v", got.Header)
		}
		return o
	}
	for _, c := range []struct {
		name    string
		headers []string
		list    string
		item    string
		fixed   object
	}{
		{"openai_bearer", nil, "data object", "created id object owned_by", object{"object": "model"}},
		{"openai_x-api-key", []string{"Authorization:", "X-Api-Key: " + gwtest.Key}, "data object", "created id object owned_by", object{"object": "model"}},
		{"anthropic_bearer", []string{asAnthropic}, "data first_id has_more last_id", "created_at display_name id type", object{"type": "model"}},
		{
			"anthropic_x-api-key_new_version",
			[]string{"Authorization:", "X-Api-Key: " + gwtest.Key, "Anthropic-Version: 2026-10-21"},
			"data first_id has_more last_id", "created_at display_name id type",
			object{"type": "model"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := decode(t, gw.Do(t, "GET", "/v1/models", "", c.headers...))
			if k := keys(list); k != c.list {
				t.Errorf("members %q, want %q", k, c.list)
			}
			data, _ := list["data"].([]any)
			if len(data) == 0 {
				t.Fatal("nothing is listed")
			}
			items := []object{decode(t, gw.Do(t, "GET", "/v1/models/exact", "", c.headers...))}
			for _, d := range data {
				o, _ := d.(object)
				items = append(items, o)
			}
			for _, o := range items {
				if k := keys(o); k != c.item {
					t.Errorf("members %q, want %q", k, c.item)
				}
				for k, want := range c.fixed {
					if o[k] != want {
						t.Errorf("%s is %v", k, o[k])
					}
				}
				for k, v := range o {
					if s, isText := v.(string); isText && s == "" || v == nil {
						t.Errorf("%s is empty", k)
					}
				}
			}
		})
	}
}

// TestRQ_EP_gemini_model_list: chapter 65 §6; a client of Gemini's API is told
// by where it has its key.
func TestRQ_EP_gemini_model_list(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.Anthropic("a", "staticModels: [claude-sonnet-4-6, claude-odd]"), gwtest.Route("claude", `"claude-*"`, "a"),
		fake.OpenAI("b", "staticModels: [text-embedding-3-small]"), gwtest.Route("gpt", `"text-*"`, "b"))
	for name, ask := range map[string]struct{ query, header string }{
		"header": {"", "X-Goog-Api-Key: " + gwtest.Key},
		"query":  {"?key=" + gwtest.Key + "&pageSize=50", "Accept: */*"},
	} {
		t.Run(name, func(t *testing.T) {
			got := gw.Do(t, "GET", "/v1/models"+ask.query, "", "Authorization:", ask.header)
			var list struct{ Models []json.RawMessage }
			if err := json.Unmarshal([]byte(got.Body), &list); err != nil || got.Status != 200 || got.Header.Get("Content-Type") != "application/json" {
				t.Fatalf("%d %v %v %s", got.Status, err, got.Header, got.Body)
			}
			if all := listed(t, gw.Do(t, "GET", "/v1/models", "")); len(all) != len(list.Models) {
				t.Errorf("%s does not list %q", got.Body, all)
			}
			for _, want := range []string{
				`{"displayName":"claude-odd","name":"models/claude-odd","supportedGenerationMethods":["generateContent","countTokens"]}`,
				`{"displayName":"claude-sonnet-4-6","inputTokenLimit":1000000,"name":"models/claude-sonnet-4-6","outputTokenLimit":128000,"supportedGenerationMethods":["generateContent","countTokens"]}`,
				`{"displayName":"text-embedding-3-small","inputTokenLimit":8191,"name":"models/text-embedding-3-small","supportedGenerationMethods":["embedContent"]}`,
			} {
				if !slices.ContainsFunc(list.Models, func(m json.RawMessage) bool { return string(m) == want }) {
					t.Errorf("%s\nis not in\n%s", want, got.Body)
				}
			}
			one := gw.Do(t, "GET", "/v1/models/claude-odd"+ask.query, "", "Authorization:", ask.header)
			if one.Status != 200 || strings.TrimSpace(one.Body) != `{"displayName":"claude-odd","name":"models/claude-odd","supportedGenerationMethods":["generateContent","countTokens"]}` {
				t.Errorf("by itself: %d %s", one.Status, one.Body)
			}
			wantRefusal(t, gw.Do(t, "GET", "/v1/models/nothing"+ask.query, "", "Authorization:", ask.header), llm.Gemini, 404, "model_not_found")
		})
	}
	t.Run("a_wrong_key", func(t *testing.T) {
		wantRefusal(t, gw.Do(t, "GET", "/v1/models", "", "Authorization:", "X-Goog-Api-Key: ilk_wrong_wrong_wrong_wrong"), llm.Gemini, 401, "invalid_api_key")
	})
	t.Run("anthropic-version_comes_first", func(t *testing.T) {
		if got := gw.Do(t, "GET", "/v1/models", "", "Authorization:", asAnthropic, "X-Goog-Api-Key: "+gwtest.Key); !strings.Contains(got.Body, `"has_more"`) {
			t.Error(got.Body)
		}
	})
}

// TestRQ_EP_codex_model_list: chapter 65 §2.4 and §6. Codex 0.171.0 takes the
// whole object only, and can call what is served on Responses.
func TestRQ_EP_codex_model_list(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.Anthropic("a", "staticModels: [claude-1]"), gwtest.Route("claude", `"claude-*"`, "a"),
		fake.OpenAI("b", "staticModels: [text-embedding-3-small, gpt-5.2, gpt-odd]"), gwtest.Route("gpt", `"gpt-*", "text-*"`, "b"))
	type level struct{ Effort, Description string }
	var list struct {
		Models []struct {
			Slug         string    `json:"slug"`
			DisplayName  string    `json:"display_name"`
			Description  *string   `json:"description"`
			Levels       *[]level  `json:"supported_reasoning_levels"`
			ShellType    string    `json:"shell_type"`
			Visibility   string    `json:"visibility"`
			InAPI        bool      `json:"supported_in_api"`
			Priority     int       `json:"priority"`
			Instructions string    `json:"base_instructions"`
			Summaries    bool      `json:"supports_reasoning_summaries"`
			Verbosity    *bool     `json:"support_verbosity"`
			Parallel     bool      `json:"supports_parallel_tool_calls"`
			Tools        *[]string `json:"experimental_supported_tools"`
			Window       int       `json:"context_window"`
			Truncation   struct {
				Mode  string `json:"mode"`
				Limit int    `json:"limit"`
			} `json:"truncation_policy"`
		} `json:"models"`
	}
	got := gw.Do(t, "GET", "/v1/models?client_version=0.171.0", "", "Originator: codex_exec")
	dec := json.NewDecoder(strings.NewReader(got.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil || got.Status != 200 || len(list.Models) != 5 { // RT-IMPL: and the o-models
		t.Fatalf("%d %v %s", got.Status, err, got.Body)
	}
	for i, m := range list.Models {
		if want := []string{"gpt-5.2", "gpt-odd", "o1", "o3", "o4"}[i]; m.Slug != want || m.DisplayName != want || m.Priority != i+1 {
			t.Errorf("%+v, want %s", m, want)
		}
		if m.Levels == nil || m.Tools == nil || m.Verbosity == nil || m.ShellType != "unified_exec" || m.Visibility != "list" || !m.InAPI || !m.Parallel || !m.Summaries ||
			m.Truncation.Mode != "bytes" || m.Truncation.Limit != 10_000 {
			t.Errorf("%+v", m)
		}
		// They take the place of Codex's own.
		if len(m.Instructions) < 1000 {
			t.Errorf("instructions %q", m.Instructions)
		}
	}
	if list.Models[0].Window != 400_000 || list.Models[1].Window != 0 {
		t.Errorf("windows %d and %d", list.Models[0].Window, list.Models[1].Window)
	}
	t.Run("signed_in_with_ChatGPT", func(t *testing.T) {
		// Codex asks without being told to, and has better instructions.
		got := gw.Do(t, "GET", "/v1/models?client_version=0.171.0", "", "Chatgpt-Account-Id: acc")
		if got.Status != 200 || strings.TrimSpace(got.Body) != `{"models":[]}` {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	})
}

func TestRQ_EP_model_by_id(t *testing.T) {
	gw, _ := startListing(t)
	for _, c := range []struct{ name, path, id string }{
		{"plain", "exact", "exact"},
		{"slash_and_colon", "vendor/name:tag", "vendor/name:tag"},
		{"escaped_slash_and_colon", "vendor%2Fname%3Atag", "vendor/name:tag"},
		{"escaped_in_small_letters", "vendor%2fname%3atag", "vendor/name:tag"},
		{"other_case", "EXACT", "exact"},
		{"mixed_case", "mixed-case", "Mixed-Case"},
		{"space", "with%20space", "with space"},
		{"unicode", "%C3%A4-model", "ä-model"},
		{"percent", "a%25b", "a%b"},
		{"escaped_dots", "dots%2F..%2Fup", "dots/../up"},
		{"query_characters", "q%3Fx=1%23y", "q?x=1#y"},
		{"with_a_query", "exact?foo=bar", "exact"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, header := range []string{"Accept: */*", asAnthropic} {
				got := gw.Do(t, "GET", "/v1/models/"+c.path, "", header)
				var m struct{ ID string }
				if err := json.Unmarshal([]byte(got.Body), &m); err != nil || got.Status != 200 || m.ID != c.id {
					t.Errorf("%d %s", got.Status, got.Body)
				}
			}
		})
	}
	for _, id := range []string{"nothing", "exact/more", "vendor", "vendor/name", "nokey-exact", "drained-exact", "claude-*", "%C3%28"} {
		t.Run("unknown_"+strings.ReplaceAll(id, "/", "_"), func(t *testing.T) {
			for header, f := range map[string]llm.Format{"Accept: */*": llm.OpenAIChat, asAnthropic: llm.AnthropicMessages} {
				wantRefusal(t, gw.Do(t, "GET", "/v1/models/"+id, "", header), f, 404, "model_not_found")
			}
		})
	}
}

func TestRQ_EP_anthropic_model_pages(t *testing.T) {
	fake := gwtest.NewFake(t)
	var names []string
	for i := range 45 {
		names = append(names, fmt.Sprintf("claude-%02d", i))
	}
	gw := gwtest.Start(t, fake.Anthropic("a", "staticModels: ["+strings.Join(names, ", ")+"]"), gwtest.Route("claude", `"claude-*"`, "a"))
	type page struct {
		Data    []struct{ ID string }
		HasMore bool   `json:"has_more"`
		FirstID string `json:"first_id"`
		LastID  string `json:"last_id"`
	}
	get := func(t *testing.T, query string) (ids []string, p page) {
		t.Helper()
		got := gw.Do(t, "GET", "/v1/models"+query, "", asAnthropic)
		if err := json.Unmarshal([]byte(got.Body), &p); err != nil || got.Status != 200 {
			t.Fatalf("%d %v %s", got.Status, err, got.Body)
		}
		for _, m := range p.Data {
			ids = append(ids, m.ID)
		}
		if len(ids) > 0 && (p.FirstID != ids[0] || p.LastID != ids[len(ids)-1]) {
			t.Errorf("first %s, last %s of %v", p.FirstID, p.LastID, ids)
		}
		return ids, p
	}
	for _, c := range []struct {
		query    string
		from, to int
		more     bool
	}{
		{"", 0, 20, true},
		{"?limit=1000", 0, 45, false},
		{"?limit=99999", 0, 45, false},
		{"?limit=45", 0, 45, false},
		{"?limit=44", 0, 44, true},
		{"?limit=0", 0, 1, true},
		{"?limit=many", 0, 20, true},
		{"?after_id=claude-19", 20, 40, true},
		{"?after_id=claude-39", 40, 45, false},
		{"?after_id=claude-44", 45, 45, false},
		{"?limit=3&after_id=claude-04", 5, 8, true},
		{"?limit=3&before_id=claude-10", 7, 10, true},
		{"?limit=3&before_id=claude-02", 0, 2, false},
		{"?before_id=claude-00", 0, 0, false},
	} {
		t.Run("query_"+c.query, func(t *testing.T) {
			ids, p := get(t, c.query)
			if !slices.Equal(ids, names[c.from:c.to]) || p.HasMore != c.more {
				t.Errorf("%v, more %t", ids, p.HasMore)
			}
		})
	}
	t.Run("OpenAI_has_no_pages", func(t *testing.T) {
		if ids := listed(t, gw.Do(t, "GET", "/v1/models?limit=3", "")); len(ids) != 45 {
			t.Errorf("%d of 45", len(ids))
		}
	})
}

// TestRT_PAT_1_patterns_of_one_route_overlap: they are no conflict and no tie,
// and a name is listed once.
func TestRT_PAT_1_patterns_of_one_route_overlap(t *testing.T) {
	fake := gwtest.NewFake(t)
	gw := gwtest.Start(t, fake.Anthropic("a", `modelPatterns: [bar, BAR]`), gwtest.Route("r", `foo, FOO, "f*", "F*", "*oo"`, "a"))
	for _, model := range []string{"foo", "FOO", "fool", "zoo"} {
		if got := gw.Post(t, "/v1/messages", gwtest.Message(model, false)); got.Status != 200 {
			t.Errorf("%s: %d %s", model, got.Status, got.Body)
		}
	}
	if ids := listed(t, gw.Do(t, "GET", "/v1/models", "")); len(ids) != 1 {
		t.Errorf("%q are listed", ids)
	}
}
