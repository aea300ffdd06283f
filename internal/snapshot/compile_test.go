package snapshot_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// compile compiles documents as a start does.
func compile(t *testing.T, documents ...string) (*snapshot.Live, error) {
	t.Helper()
	loaded, err := gwtest.Load(t, gwtest.Config{Documents: documents, Env: map[string]string{"KEY": "sk-key-of-the-tests"}})
	if err != nil {
		return nil, err
	}
	return app.Compile(loaded, 1)
}

func openAI(name string, more ...string) string {
	return strings.Join(append([]string{"kind: Provider\nname: " + name + "\ntype: openai\napiKey: env:KEY"}, more...), "\n")
}

const anthropic = "kind: Provider\nname: ant\ntype: anthropic\napiKey: sk-ant-key"

func route(name string, lines ...string) string {
	return "kind: Route\nname: " + name + "\n" + strings.Join(lines, "\n")
}

// Save-time checks of routes against each other.
func TestCompile_refuses(t *testing.T) {
	cases := []struct {
		name string
		docs []string
		want []string // code and path, and words of the message
	}{
		{
			"RT-PAT-1 overlap at equal specificity",
			[]string{openAI("a"), route("one", "modelPatterns: [x, gpt-*]", "members: [{provider: a}]"), route("two", "modelPatterns: ['*mini']", "members: [{provider: a}]")},
			[]string{"conflict modelPatterns[0]", `"gpt-*"`, `"*mini"`, `"one"`, `"two"`},
		},
		{
			"RT-ALIAS an alias of another route",
			[]string{openAI("a"), route("one", "modelPatterns: [x]", "aliases: [{name: Fast, wireModels: {a: m}}]", "members: [{provider: a}]"), route("two", "modelPatterns: [y]", "aliases: [{name: fast, wireModels: {a: m}}]", "members: [{provider: a}]")},
			[]string{"conflict aliases[0].name", `"fast"`, `"one"`},
		},
		{
			"RT-ALIAS an exact pattern of another route",
			[]string{openAI("a"), route("one", "modelPatterns: [Fast]", "members: [{provider: a}]"), route("two", "modelPatterns: [y]", "aliases: [{name: fast, wireModels: {a: m}}]", "members: [{provider: a}]")},
			[]string{"conflict aliases[0].name", `"fast"`, `"one"`, "pattern"},
		},
		{
			"RT-ALIAS the pattern comes later",
			[]string{openAI("a"), route("one", "modelPatterns: [y]", "aliases: [{name: fast, wireModels: {a: m}}]", "members: [{provider: a}]"), route("two", "modelPatterns: [FAST]", "members: [{provider: a}]")},
			[]string{"conflict aliases[0].name", `"fast"`, `"two"`},
		},
		{
			"RQ-CRED a virtual key for a provider that is not there",
			[]string{openAI("a"), "kind: Key\nname: v\ntype: virtual\nsecret: ilk_virtual_0123456789abcdef\nproviderCredential: {provider: gone, apiKey: sk-x}"},
			[]string{"missing_reference providerCredential.provider", `"gone"`},
		},
		{
			"RQ-CRED a virtual key's credential that can't be read",
			[]string{openAI("a"), "kind: Key\nname: v\ntype: virtual\nsecret: ilk_virtual_0123456789abcdef\nproviderCredential: {provider: a, apiKey: env:GONE}"},
			[]string{"providerCredential.apiKey", "GONE"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := compile(t, c.docs...)
			if err == nil {
				t.Fatal("accepted")
			}
			text := err.Error()
			var ps resource.Problems
			if errors.As(err, &ps) && len(ps) > 0 {
				text = ps[0].Code + " " + ps[0].Path + " " + text
				if len(ps) != 1 {
					t.Errorf("%d problems: %v", len(ps), ps)
				}
			}
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in %s", w, text)
				}
			}
		})
	}
}

// RS-PROV: a CA file is read as a secret is: never a device or a pipe without an
// end, and never more than certificates are.
func TestCompile_caFile_refuses(t *testing.T) {
	dir := t.TempDir()
	pipe, big := filepath.Join(dir, "pipe"), filepath.Join(dir, "big")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(big, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{"/dev/zero": "not a regular file", pipe: "not a regular file", dir: "not a regular file", big: "too long", dir + "/gone": "no such file"} {
		_, err := compile(t, openAI("a", "caFile: "+path))
		if err == nil || !strings.Contains(err.Error(), "caFile") || !strings.Contains(err.Error(), why) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A disabled route neither serves nor conflicts; its own alias may be its own
// pattern.
func TestCompile_accepts(t *testing.T) {
	for name, docs := range map[string][]string{
		"a disabled route":     {openAI("a"), route("one", "modelPatterns: [x]", "members: [{provider: a}]"), route("two", "enabled: false", "modelPatterns: [x]", "aliases: [{name: x, wireModels: {a: m}}]", "members: [{provider: a}]")},
		"its own pattern":      {openAI("a"), route("one", "modelPatterns: [x]", "aliases: [{name: X, wireModels: {a: m}}]", "members: [{provider: a}]")},
		"a glob of another":    {openAI("a"), route("one", "modelPatterns: ['f*']", "members: [{provider: a}]"), route("two", "modelPatterns: [y]", "aliases: [{name: fast, wireModels: {a: m}}]", "members: [{provider: a}]")},
		"overlap of one route": {openAI("a"), route("one", "modelPatterns: ['gpt-*', '*mini']", "members: [{provider: a}]")},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := compile(t, docs...); err != nil {
				t.Error(err)
			}
		})
	}
}

// RT-FILTER: what is saved and excluded at run time is said when it is saved.
func TestCompile_RT_FILTER_warns(t *testing.T) {
	cases := []struct {
		name string
		docs []string
		want []string
	}{
		{
			"another family",
			[]string{anthropic, openAI("a"), route("r", "modelPatterns: [m]", "members: [{provider: ant}, {provider: a}]")},
			[]string{`member_excluded members[1].provider`},
		},
		{
			"a disabled member, and none left",
			[]string{openAI("a", "enabled: false"), route("r", "modelPatterns: [m]", "members: [{provider: a}]")},
			[]string{`member_excluded members[0].provider`},
		},
		{
			"an alias without the member",
			[]string{openAI("a"), openAI("b"), route("r", "modelPatterns: [m]", "aliases: [{name: f, wireModels: {a: m}}]", "members: [{provider: a}, {provider: b}]")},
			[]string{`member_excluded aliases[0].wireModels`},
		},
		{
			"RT-ALIAS an alias that hides a pattern of its own route",
			[]string{openAI("a"), route("r", "modelPatterns: [y, Fast]", "aliases: [{name: fast, wireModels: {a: m}}]", "members: [{provider: a}]")},
			[]string{`no_effect modelPatterns[1]`},
		},
		{
			"RT-OKF without both kinds of member",
			[]string{openAI("a"), route("r", "modelPatterns: [m]", "orgKeyFallbackForCallerCredentials: true", "members: [{provider: a}]")},
			[]string{`no_effect orgKeyFallbackForCallerCredentials`},
		},
		{
			"RT-OKF with both",
			[]string{openAI("a"), "kind: Provider\nname: p\ntype: openai", route("r", "modelPatterns: [m]", "orgKeyFallbackForCallerCredentials: true", "members: [{provider: p}, {provider: a}]")},
			nil,
		},
		{"no member", []string{route("r", "modelPatterns: [m]")}, []string{"no_member members"}},
		{
			"ceilings that name nothing",
			[]string{"kind: Key\nname: k\ntype: pat\nsecret: ilk_k_0123456789abcdef0123\nallowedProviders: [gone]\nallowedResidencies: [moon]"},
			[]string{"unknown_name allowedProviders[0]", "unknown_name allowedResidencies[0]"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			live, err := compile(t, c.docs...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range live.Warnings {
				got = append(got, w.Code+" "+w.Path)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s%v", d, live.Warnings)
			}
		})
	}
}

// RT-IMPL: which providers the family routes have.
func TestCompile_RT_IMPL_family_routes(t *testing.T) {
	live, err := compile(t, anthropic, openAI("b"), openAI("a"),
		"kind: Provider\nname: kimi\ntype: anthropic\nvendor: kimi\napiKey: env:KEY",
		"kind: Provider\nname: proxy\ntype: anthropic\nvendor: litellm\nbaseUrl: https://llm.example\napiKey: env:KEY",
		"kind: Provider\nname: off\ntype: anthropic\nenabled: false\napiKey: sk-ant-x",
		"kind: Provider\nname: compat\ntype: openai-compatible\nbaseUrl: https://llm.example/v1\napiKey: env:KEY",
	)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][]string{"anthropic-family": {"ant", "proxy"}, "openai-family": {"a", "b"}} {
		var got []string
		for _, r := range live.Routing.Routes() {
			if string(r.ID) != id {
				continue
			}
			for _, m := range r.Members {
				got = append(got, string(m.Provider.ID))
			}
			if !r.Implicit || r.Strategy.ID() != "failover" {
				t.Errorf("%s: %+v", id, r)
			}
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s has %v, want %v", id, got, want)
		}
	}
}
