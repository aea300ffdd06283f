package yamldoc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
)

type shared struct {
	Kind string `json:"kind"`
}

type section struct {
	N     int      `json:"n"`
	Price *float64 `json:"price"`
	On    bool     `json:"on"`
	Token string   `json:"token" secret:"true"`
}

type everything struct {
	shared
	Name   string              `json:"name"`
	Big    int64               `json:"big"`
	Weight *int                `json:"weight,omitempty"`
	Words  []string            `json:"words"`
	Labels map[string]string   `json:"labels"`
	Sizes  map[string]int      `json:"sizes"`
	Lists  map[string][]string `json:"lists"`
	Sec    section             `json:"sec"`
	Opt    *section            `json:"opt"`
	Many   []section           `json:"many"`
	When   *time.Time          `json:"when"`
	Rest   []yamldoc.Doc       `json:"rest"`
	hidden int
	Unread int `json:"-"`
}

func TestDecode(t *testing.T) {
	const src = `
kind: K
name: "1"
big: -9_000_000_000
weight: 0
words: [a, 'b', "c\n", true-ish, 1.2.3, no, 0x, "5"]
labels: {a: b, "1": c}
sizes:
  gpt-4.1: 5
lists: {x: [y, z], e: []}
sec: {n: 7, price: 1e3, on: true}
opt:
  price: 3
many:
  - n: 1
  - {n: 2}
when: 2026-12-31T23:59:59+01:00
rest: [{any: thing}, 5]
`
	into := everything{Sec: section{N: 1, Token: "kept"}, hidden: 5}
	got := one(t, src).Decode(&into, "", nil)
	if len(got.Problems) > 0 {
		t.Fatal(got.Problems)
	}
	want := everything{
		shared: shared{"K"}, Name: "1", Big: -9_000_000_000, Weight: new(0),
		Words:  []string{"a", "b", "c\n", "true-ish", "1.2.3", "no", "0x", "5"},
		Labels: map[string]string{"a": "b", "1": "c"}, Sizes: map[string]int{"gpt-4.1": 5},
		Lists: map[string][]string{"x": {"y", "z"}, "e": {}}, Sec: section{7, new(1000.0), true, "kept"},
		Opt: &section{Price: new(3.0)}, Many: []section{{N: 1}, {N: 2}},
		When: new(time.Date(2026, 12, 31, 22, 59, 59, 0, time.UTC)), hidden: 5,
	}
	if diff := cmp.Diff(want, into, cmp.AllowUnexported(everything{}), cmpopts.IgnoreFields(everything{}, "Rest"),
		cmpopts.EquateApproxTime(0)); diff != "" {
		t.Error(diff)
	}
	if len(into.Rest) != 2 || !into.Rest[0].IsMapping() || into.Rest[0].Locate("any").String() != "f:18:14" || into.Rest[1].Describe() != "a number" {
		t.Errorf("rest: %v", into.Rest)
	}
}

func TestDecode_problems(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a number for a text", "name: 5", `f:1:7: name: expected a text, found the number 5; put it in quotes`},
		{"true for a text", "name: true", `f:1:7: name: expected a text, found true; put it in quotes`},
		{"a list for a text", "name: [a]", `f:1:7: name: expected a text, found a list`},
		{"a secret number", "sec: {token: 12345}", `f:1:14: sec.token: expected a text, found a number; put it in quotes`},
		{"a text for a number", "big: ten", `f:1:6: big: expected a whole number, found the text "ten"`},
		{"a long text for a number", "big: " + strings.Repeat("x", 50), `f:1:6: big: expected a whole number, found the text "` + strings.Repeat("x", 40) + `…"`},
		{"a quoted number", `big: "10"`, `f:1:6: big: expected a whole number, found the text "10"; remove the quotes`},
		{"too large", "big: 9223372036854775808", `f:1:6: big: the number "9223372036854775808" is too large`},
		{"far too large", "big: 99999999999999999999999", `f:1:6: big: the number "99999999999999999999999" is too large`},
		{"octal", "big: 0777", `f:1:6: big: the number "0777" begins with 0, which YAML takes for an octal number; write it without`},
		{"infinite", "sec: {price: .inf}", `f:1:14: sec.price: expected a number, found the number .inf`},
		{"no number", "sec: {price: .nan}", `f:1:14: sec.price: expected a number, found the number .nan`},
		{"a fraction", "big: 1.0", `f:1:6: big: expected a whole number, found the number 1.0`},
		{"yes", "sec: {on: yes}", `f:1:11: sec.on: expected true or false, found the text "yes"`},
		{"nothing", "name:\nbig: 1", `f:1:1: name: expected a text, found nothing; write a value or remove the line`},
		{"null", "words: null", `f:1:1: words: expected a list (write [] for none), found nothing; write a value or remove the line`},
		{"an empty optional section", "opt:", `f:1:1: opt: expected key: value pairs, found nothing; write a value or remove the line`},
		{"an empty entry", "words: [a, ~]", `f:1:12: words[1]: expected a text, found nothing; write a value or remove the line`},
		{"an empty section in a list", "many: [~]", `f:1:8: many[0]: expected key: value pairs, found nothing; write a value or remove the line`},
		{"a text for a list", "words: a", `f:1:8: words: expected a list, found a text; write [ … ], or one entry a line after "- "`},
		{"a list for a mapping", "labels: [a]", `f:1:9: labels: expected key: value pairs, found a list`},
		{"a key that is a number", "labels: {1: a}", `f:1:10: labels: expected a text as key, found the number 1; put it in quotes`},
		{"a key that is true", "true: a", `f:1:1: expected a text as key, found true; put it in quotes`},
		{"a date without time", "when: 2026-12-31", `f:1:7: when: expected a time such as 2026-12-31T23:59:59Z, found the text "2026-12-31"`},
		{"a list at the top", "- a", `f:1:1: expected key: value pairs, found a list`},
		{"an unknown key", "nmae: a", `f:1:1: nmae: unknown key "nmae"; did you mean name?`},
		{"an unknown key, deep", "many: [{}, {m: 1}]", `f:1:13: many[1].m: unknown key "m"; did you mean n?`},
		{"a key of another section", "token: a", `f:1:1: token: unknown key "token"; known here are kind, name,`},
		{"an unexported field", "hidden: 1", `f:1:1: hidden: unknown key "hidden"; known here`},
		{"a field that JSON leaves out", "Unread: 1", `f:1:1: Unread: unknown key "Unread"; known here`},
		{"a key in another case", "NAME: a", `f:1:1: NAME: unknown key "NAME"; did you mean name?`},
		{"a key twice", "name: a\n\"name\": b", `f:2:1: name: this key occurs twice, first at line 1; remove one of them`},
		{"an unknown key twice", "x-y: a\nx-y: b", `f:1:1: x-y: unknown key "x-y"; known here`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var into everything
			ps := one(t, c.src).Decode(&into, "", nil).Problems
			if len(ps) == 0 || !strings.HasPrefix(ps[0].Error(), c.want) {
				t.Errorf("got  %v\nwant %s", ps, c.want)
			}
		})
	}
}

func TestDecode_ignores(t *testing.T) {
	var into everything
	d := one(t, "version: 3\nmany: [{n: 1, health: {x: [y]}}]\nsec: {version: 1}\n").Decode(&into, "", []string{"version", "many.health"})
	if len(d.Problems) != 1 || d.Problems[0].Path != "sec.version" {
		t.Errorf("got %v", d.Problems)
	}
}

func TestDecoded_Explains(t *testing.T) {
	d := yamldoc.Decoded{Doubtful: []string{"members[0].weight", "strategy"}}
	for path, want := range map[string]bool{
		"members[0].weight": true, "members[0]": true, "members": true, "members[0].provider": false, "members[1]": false,
		"strategy.type": true, "strategyX": false, "name": false,
	} {
		if got := d.Explains(path); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}
