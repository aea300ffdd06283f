package resource_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// checkCase is an object and, for each problem, its path and a part of its
// message.
type checkCase struct {
	name   string
	object resource.Object
	want   [][2]string
}

func runChecks(t *testing.T, cases []checkCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := c.object.Check()
			if len(got) != len(c.want) {
				t.Fatalf("want %d problems, got:\n%v", len(c.want), resource.Problems(got).Error())
			}
			for i, w := range c.want {
				if got[i].Path != w[0] || !strings.Contains(got[i].Message, w[1]) {
					t.Errorf("problem %d is %q: %q; want %q: …%s…", i, got[i].Path, got[i].Message, w[0], w[1])
				}
				if got[i].Code == "" || got[i].Object.Kind != c.object.Head().Kind {
					t.Errorf("problem %d has code %q and object %v", i, got[i].Code, got[i].Object)
				}
			}
		})
	}
}

func meta(kind, name string) resource.Meta { return resource.Meta{Kind: kind, Name: name} }

func TestCheckName(t *testing.T) {
	for _, n := range []string{"a", "0", "a.b_c-d", strings.Repeat("x", 63)} {
		if err := resource.CheckName(n); err != nil {
			t.Errorf("CheckName(%q) = %v", n, err)
		}
	}
	for n, say := range map[string]string{
		"": "missing", "A": `such as "a"`, "My Provider": `such as "my-provider"`, "-a": `such as "a"`, "a/b": `such as "a-b"`,
		"å": "is no name", strings.Repeat("x", 64): "1 to 63", "a\n": "is no name",
	} {
		if err := resource.CheckName(n); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("CheckName(%q) = %v; want %q in it", n, err, say)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range [][2]string{
		{resource.JoinPath("", "members"), "members"},
		{resource.JoinPath(resource.IndexPath("members", 1), "weight"), "members[1].weight"},
		{resource.JoinPath("modelAliases", "gpt-4.1"), `modelAliases["gpt-4.1"]`},
		{resource.JoinPath("modelAliases", `a"]b`), `modelAliases["a\"]b"]`},
		{resource.JoinPath("modelAliases", ""), `modelAliases[""]`},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
}

func TestModelCheck(t *testing.T) {
	price := func(usd float64) *resource.Model {
		return &resource.Model{Meta: meta("Model", "m"), Prices: &resource.Prices{CacheRead: &usd}}
	}
	runChecks(t, []checkCase{
		{"takes a pattern as name", &resource.Model{Meta: meta("Model", "gpt-4*"), Modality: "embedding", Family: "openai"}, nil},
		{"takes a price of nothing", price(0), nil},
		{"refuses a negative price", price(-0.5), [][2]string{{"prices.cacheRead", "0 to 1,000,000 USD"}}},
		{"refuses a price that is no number", price(nan()), [][2]string{{"prices.cacheRead", "out of range"}}},
		{
			"refuses what is out of range",
			&resource.Model{Meta: meta("Model", "a*b"), Modality: "video", Family: "?", ContextWindow: -1, MaxOutputTokens: -2},
			[][2]string{
				{"name", "inside"},
				{"modality", "chat, embedding, image, audio or rerank"},
				{"family", "is no name"},
				{"contextWindow", "-1"},
				{"maxOutputTokens", "-2"},
			},
		},
	})
}

func nan() float64 { zero := 0.0; return zero / zero }

func TestSettingsCheck(t *testing.T) {
	runChecks(t, []checkCase{
		{"takes the defaults", &resource.Settings{Meta: meta("Settings", "settings")}, nil},
		{"takes 404", &resource.Settings{Meta: meta("Settings", "settings"), UnknownModelStatus: 404, Residencies: []string{"se"}}, nil},
		{
			"refuses what is not possible",
			&resource.Settings{
				Meta: resource.Meta{Kind: "Settings", Name: "other", Enabled: new(false)}, GlobalModelAllowlist: []string{"a*b", "x", "X"},
				Residencies: []string{"EU", "se", "se"}, PIIDefault: "hide", UnknownModelStatus: 500,
			},
			[][2]string{
				{"name", "named settings"},
				{"enabled", "switched off"},
				{"globalModelAllowlist[0]", "inside"},
				{"globalModelAllowlist[2]", "repeats globalModelAllowlist[1]"},
				{"residencies[0]", "is no name"},
				{"residencies[2]", "repeats"},
				{"piiDefault", "off, allow"},
				{"unknownModelStatus", "503 or 404"},
			},
		},
	})
}

func TestKinds(t *testing.T) {
	var names []string
	for _, k := range resource.Kinds() {
		names = append(names, k.Name)
		if k.New() == nil || k.New() == k.New() {
			t.Errorf("%s: New must make a fresh object", k.Name)
		}
		if found, ok := resource.FindKind(k.Name); !ok || found.Name != k.Name {
			t.Errorf("%s is not found", k.Name)
		}
	}
	if diff := cmp.Diff([]string{"Provider", "Route", "Key", "Model", "Department", "Team", "User", "Settings"}, names); diff != "" {
		t.Error(diff)
	}
	if _, ok := resource.FindKind("provider"); ok {
		t.Error("kinds are spelt exactly")
	}
}
