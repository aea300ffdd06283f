package catalog

import (
	"strings"
	"testing"
	"testing/fstest"
)

const goodModels = "family: acme\nmodality: chat\nsource: a page\nobserved: 2026-11-30\npricedFor: [acme]\nmodels:\n"

func loadModelText(rows ...string) (*Models, error) {
	files := fstest.MapFS{}
	for i, text := range rows {
		files["models/"+string(rune('a'+i))+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return loadModels(files)
}

func TestLoadModels_RS_MODEL_one_file_adds_a_family(t *testing.T) {
	models, err := loadModelText(goodModels +
		"  - {name: acme-1, aliases: [acme], contextWindow: 10, maxOutputTokens: 5, prices: {input: 1, cacheWrite1h: 2}, above: {tokens: 7, output: 3}}\n" +
		"  - {name: \"acme-*\", family: other, modality: image, source: b, observed: 2026-01-02}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Model{
		Name: "acme-1", Modality: "chat", Family: "acme", ContextWindow: 10, MaxOutputTokens: 5, Source: "a page", Observed: "2026-11-30",
		Prices: Prices{Input: USD(1), CacheWrite1h: USD(2)}, Above: Tier{Tokens: 7, Prices: Prices{Output: USD(3)}},
	}
	for _, name := range []string{"acme", "Acme-1"} {
		if m := find(t, models, "acme", name); m != want {
			t.Errorf("%+v", m)
		}
	}
	if m := find(t, models, "", "acme-2"); m.Modality != "image" || m.Family != "other" || m.Source != "b" || m.Observed != "2026-01-02" {
		t.Errorf("%+v", m)
	}
}

// A price that a host does not list is not that of the model's own vendor.
func TestLoadModels_RT_STRAT_COST_prices_of_two_lists_are_not_mixed(t *testing.T) {
	models, err := loadModelText(
		goodModels+"  - {name: acme-1, contextWindow: 10, prices: {input: 1, output: 2, cacheRead: 3}, above: {tokens: 7, output: 3}}\n",
		"vendor: host\npricedFor: [host]\nsource: b\nobserved: 2026-11-30\nmodels:\n  - {name: acme-1, prices: {input: 4}}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Model{Name: "acme-1", Vendor: "host", Modality: "chat", Family: "acme", ContextWindow: 10, Prices: Prices{Input: USD(4)}, Source: "b", Observed: "2026-11-30"}
	if m := find(t, models, "host", "acme-1"); m != want {
		t.Errorf("%+v", m)
	}
}

func TestLoadModels_RS_MODEL_refuses(t *testing.T) {
	row := func(s string) []string { return []string{goodModels + "  - {" + s + "}\n"} }
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"an unknown field":            {[]string{goodModels + "  - {name: a}\ncolour: red\n"}, "colour"},
		"an unknown field of a row":   {row("name: a, colour: red"), "colour"},
		"an unknown price":            {row("name: a, prices: {inputs: 1}"), "inputs"},
		"an unknown field of a tier":  {row("name: a, prices: {input: 1}, above: {token: 1}"), "token"},
		"a name twice":                {[]string{goodModels + "  - {name: a}\n  - {name: a}\n"}, `"a" is taken`},
		"a name in two files":         {[]string{goodModels + "  - {name: x}\n", goodModels + "  - {name: y, aliases: [x]}\n"}, `b.yaml: model "y": the name "x" is taken`},
		"a pattern twice":             {[]string{goodModels + "  - {name: \"a*\"}\n  - {name: \"a*\"}\n"}, `"a*" is taken`},
		"no name":                     {row("contextWindow: 1"), "is empty"},
		"an empty alias":              {row(`name: a, aliases: [""]`), "is empty"},
		"upper case":                  {row("name: A"), "lower case"},
		"a space":                     {row(`name: "a "`), "is empty, or"},
		"a star inside":               {row(`name: "a*b"`), "may stand only"},
		"a star inside of a pattern":  {row(`name: "a*b*"`), "may stand only"},
		"a pattern with a price":      {row(`name: "a*", prices: {input: 1}`), "modality and family only"},
		"a pattern with a window":     {row(`name: "a*", contextWindow: 1`), "modality and family only"},
		"a pattern with an alias":     {row(`name: "a*", aliases: [b]`), "modality and family only"},
		"a pattern as an alias":       {row(`name: a, aliases: ["b*"]`), "alias"},
		"an unknown kind":             {row("name: a, modality: smell"), "smell"},
		"a negative window":           {row("name: a, contextWindow: -1"), "not negative"},
		"a price of 0":                {row("name: a, prices: {input: 0}"), "price 0"},
		"a negative price":            {row("name: a, prices: {output: -1}"), "price -1"},
		"a price that is no number":   {row("name: a, prices: {output: .nan}"), "NaN"},
		"a price in other units":      {row("name: a, prices: {output: 1e7}"), "million"},
		"a price of 0 in a tier":      {row("name: a, prices: {input: 1}, above: {tokens: 1, input: 0}"), "price 0"},
		"a tier without tokens":       {row("name: a, prices: {input: 1}, above: {input: 2}"), "above goes"},
		"a tier without prices":       {row("name: a, prices: {input: 1}, above: {tokens: 2}"), "above goes"},
		"a tier without a base price": {row("name: a, prices: {output: 1}, above: {tokens: 2, input: 2}"), "above goes"},
		"prices of nobody":            {[]string{strings.Replace(goodModels, "pricedFor: [acme]\n", "", 1) + "  - {name: a, prices: {input: 1}}\n"}, "pricedFor"},
		"no source":                   {[]string{strings.Replace(goodModels, "source: a page\n", "", 1) + "  - {name: a}\n"}, "no source"},
		"no date":                     {[]string{strings.Replace(goodModels, "observed: 2026-11-30\n", "", 1) + "  - {name: a}\n"}, "observed"},
		"another date":                {row("name: a, observed: 30 November"), "observed"},
		"a file that is not YAML":     {[]string{"\t{"}, "a.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadModelText(c.files...)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "models/") {
				t.Errorf("error %v; want one with the file and %q", err, c.want)
			}
		})
	}
}
