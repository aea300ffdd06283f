package catalog

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	goodGeneric = "id: generic\ntitle: g\ntypes: [openai-compatible]\nsource: s\nobserved: 2026-11-30\nformats:\n  openai-chat: {}\n"
	goodVendor  = "id: acme\ntitle: Acme\nsource: s\nobserved: 2026-11-30\nformats:\n  openai-chat: {baseUrl: https://acme.test/v1, header: authorization}\n"
)

func loadText(generic, vendor string) error {
	_, err := load(fstest.MapFS{
		"generic.yaml":      {Data: []byte(generic)},
		"vendors/acme.yaml": {Data: []byte(vendor)},
	})
	return err
}

func TestLoad_one_file_adds_a_vendor(t *testing.T) {
	c, err := load(fstest.MapFS{
		"generic.yaml":      {Data: []byte(goodGeneric)},
		"vendors/acme.yaml": {Data: []byte(goodVendor + "signals:\n  - {id: broke, code: [9], category: quota_exhausted, reset: {default: 7d}}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	x := Example{Status: 400, Body: `{"error":{"code":9}}`}
	f, why := vendor(t, c, "acme").Classifier().Explain(x.Answer())
	if why != "acme/broke" || f.RetryAfter.Hours() != 24 {
		t.Errorf("%s by %s", f, why)
	}
}

func TestLoad_refuses(t *testing.T) {
	signal := func(s string) string { return goodVendor + "signals:\n  - {" + s + "}\n" }
	for name, row := range map[string]struct{ vendor, want string }{
		"an unknown field":              {goodVendor + "colour: red\n", "colour"},
		"an unknown field of a signal":  {signal("id: a, status: [429], category: auth, colour: red"), "colour"},
		"another file's name":           {strings.Replace(goodVendor, "id: acme", "id: other", 1), `want id "acme"`},
		"no title":                      {strings.Replace(goodVendor, "title: Acme\n", "", 1), "required"},
		"an unknown format":             {strings.Replace(goodVendor, "openai-chat", "smoke", 1), "smoke"},
		"a base URL without TLS":        {strings.Replace(goodVendor, "https:", "http:", 1), "want https"},
		"a slash at the end":            {strings.Replace(goodVendor, "/v1", "/v1/", 1), "no slash"},
		"a header in upper case":        {strings.Replace(goodVendor, "authorization", "Authorization", 1), "lower case"},
		"a type that is taken":          {goodVendor + "types: [openai-compatible]\n", "is taken"},
		"takesVendor without types":     {goodVendor + "takesVendor: true\n", "takesVendor"},
		"no source":                     {strings.Replace(signal("id: a, status: [429], category: auth"), "source: s\n", "", 1), "no source"},
		"no date":                       {strings.Replace(signal("id: a, status: [429], category: auth"), "observed: 2026-11-30\n", "", 1), "observed"},
		"statusOf":                      {goodVendor + "statusOf: {a: 400}\n", "no statusOf"},
		"a bad pattern":                 {signal("id: a, match: ['('], category: auth"), "missing closing"},
		"an unknown category":           {signal("id: a, status: [429], category: angry"), "angry"},
		"two signals with the same id":  {goodVendor + "signals:\n  - {id: a, status: [400], category: auth}\n  - {id: a, status: [401], category: auth}\n", "unique"},
		"a signal without a condition":  {signal("id: a, category: auth"), "no condition"},
		"a signal without a name":       {signal("status: [400], category: auth"), "want an id"},
		"a reset that never applies":    {signal("id: a, status: [400], category: auth, reset: {default: 1m}"), "reset"},
		"a zone that does not exist":    {signal("id: a, status: [429], category: rate_limit, reset: {midnight: Mars/Base}"), "Mars/Base"},
		"a duration that is not":        {signal("id: a, status: [429], category: rate_limit, reset: {default: soon}"), "soon"},
		"a file that is not YAML":       {"\t{", "acme.yaml"},
		"a vendor called generic's own": {strings.Replace(goodVendor, "id: acme", "id: generic", 1), "want id"},
	} {
		t.Run(name, func(t *testing.T) {
			err := loadText(goodGeneric, row.vendor)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v; want one with %q", err, row.want)
			}
		})
	}
}

func TestLoad_refuses_a_bad_generic_file(t *testing.T) {
	for name, text := range map[string]string{
		"another id":     strings.Replace(goodGeneric, "id: generic", "id: g", 1),
		"no formats":     strings.Replace(goodGeneric, "formats:\n  openai-chat: {}\n", "", 1),
		"a bad status":   goodGeneric + "statusOf: {a: 200}\n",
		"an upper case":  goodGeneric + "statusOf: {A: 400}\n",
		"a field of old": goodGeneric + "tests: []\n",
	} {
		if err := loadText(text, goodVendor); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := load(fstest.MapFS{}); err == nil {
		t.Error("no files: accepted")
	}
}

func TestExamples_refuse_an_unknown_field(t *testing.T) {
	c, err := load(fstest.MapFS{
		"generic.yaml":      {Data: []byte(goodGeneric)},
		"vendors/acme.yaml": {Data: []byte(goodVendor + "---\ntests:\n  - {name: a, expect: auth}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vendor(t, c, "acme").Examples(); err == nil {
		t.Error("accepted")
	}
}

func TestEmbedded_files_have_two_documents(t *testing.T) {
	names, err := fs.Glob(embedded, "vendors/*.yaml")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range append(names, "generic.yaml") {
		b, err := fs.ReadFile(embedded, name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n---\n"); n != 1 {
			t.Errorf("%s: %d separators, want 1", name, n)
		}
	}
}
