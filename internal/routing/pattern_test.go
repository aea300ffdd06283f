package routing

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestParsePattern(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		specificity int
		matches     []string
		others      []string
	}{
		{
			"RT-PAT an exact name", "claude-opus-4-1", exactSpecificity,
			[]string{"claude-opus-4-1", "Claude-OPUS-4-1"},
			[]string{"claude-opus-4-1x", "xclaude-opus-4-1", "claude-opus-4", ""},
		},
		{
			"RT-PAT a star at the end", "claude-*", 7,
			[]string{"claude-", "claude-opus", "CLAUDE-X"},
			[]string{"claude", "xclaude-", "anthropic/claude-opus"},
		},
		{
			"RT-PAT a star at the start", "*-mini", 5,
			[]string{"-mini", "gpt-5-mini", "GPT-5-MINI"},
			[]string{"mini", "gpt-5-mini-2", "gpt-5-min"},
		},
		{
			"RT-PAT a star on both ends", "*gpt-4*", 5,
			[]string{"gpt-4", "gpt-4o", "openai/gpt-4", "openai/GPT-4-turbo"},
			[]string{"gpt4", "gpt-", ""},
		},
		{
			"RT-PAT the built-in inner form", "*.anthropic.*", 11,
			[]string{"us.anthropic.claude-x", ".anthropic."},
			[]string{"anthropic.claude-x", "us.anthropic"},
		},
		{"RT-PAT a star alone", "*", 0, []string{"a", "anything/at all:1"}, nil},
		{"RT-PAT two stars", "**", 0, []string{"a"}, nil},
		{"RT-PAT the pattern's own case does not matter", "Claude-*", 7, []string{"claude-x", "CLAUDE-x"}, []string{"gpt"}},
		{"RT-PAT literals are counted in characters", "é-ü*", 3, []string{"é-üx", "É-Üx"}, []string{"e-ux"}},
		{"RT-PAT other glob characters are literal", "[a]?.b*", 6, []string{"[a]?.b", "[A]?.bc"}, []string{"a1.b", "aX.b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := ParsePattern(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if p.String() != c.text || p.Specificity() != c.specificity || p.IsExact() != (c.specificity == exactSpecificity) {
				t.Errorf("%q: specificity %d, exact %v", p, p.Specificity(), p.IsExact())
			}
			for _, m := range c.matches {
				if !p.Match(m) {
					t.Errorf("%q does not match %q", p, m)
				}
			}
			for _, m := range c.others {
				if p.Match(m) {
					t.Errorf("%q matches %q", p, m)
				}
			}
		})
	}
	for _, text := range []string{"", "a*b", "claude-*-mini", "*a*b", "a*b*", "*a*b*", "***", "a**", "**a", "* *x"} {
		t.Run("RT-PAT refuses "+text, func(t *testing.T) {
			if p, err := ParsePattern(text); err == nil {
				t.Errorf("accepted as %+v", p)
			} else if text != "" && !strings.Contains(err.Error(), text) {
				t.Errorf("the error %q does not name the pattern", err)
			}
		})
	}
}

func TestPattern_specificity_orders_the_example_of_the_spec(t *testing.T) {
	order := patterns(t, "claude-opus-4-1", "claude-opus-*", "claude-*", "*")
	for i := range order[1:] {
		if order[i].Specificity() <= order[i+1].Specificity() {
			t.Errorf("%q is not more specific than %q", order[i], order[i+1])
		}
	}
	if long := pattern(t, strings.Repeat("a", 255)+"*"); long.Specificity() >= pattern(t, "a").Specificity() {
		t.Error("a long glob beats an exact name")
	}
}

func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		name, a, b         string
		overlap, conflicts bool
	}{
		{"RT-PAT-1 a prefix and a suffix of equal length", "claude-*", "*-mini-4", true, true},
		{"RT-PAT-1 prefixes of different length", "claude-*", "claude*", true, false},
		{"RT-PAT-1 a prefix and another suffix", "abc*", "*xyz", true, true},
		{"RT-PAT-1 prefixes that differ", "abc*", "abd*", false, false},
		{"RT-PAT-1 suffixes that differ", "*abc", "*bbc", false, false},
		{"RT-PAT-1 suffixes of different length", "*bc", "*abc", true, false},
		{"RT-PAT-1 suffixes of different length that differ", "*bc", "*abd", false, false},
		{"RT-PAT-1 substrings of equal length", "*abc*", "*xyz*", true, true},
		{"RT-PAT-1 a substring and a prefix of equal length", "*abc*", "xyz*", true, true},
		{"RT-PAT-1 a substring and a suffix of equal length", "*abc*", "*xyz", true, true},
		{"RT-PAT-1 a substring and a prefix of different length", "*abc*", "wxyz*", true, false},
		{"RT-PAT-1 the same exact name in another case", "GPT-5", "gpt-5", true, true},
		{"RT-PAT-1 two exact names", "gpt-5", "gpt-4", false, false},
		{"RT-PAT-1 an exact name and a glob that matches it", "gpt-5", "gpt-*", true, false},
		{"RT-PAT-1 an exact name and a glob that does not", "gpt-5", "claude-*", false, false},
		{"RT-PAT-1 two catch-alls", "*", "**", true, true},
		{"RT-PAT-1 a catch-all and any glob", "*", "a*", true, false},
		{"RT-PAT-1 the same prefix in another case", "Claude-*", "claude-*", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := pattern(t, c.a), pattern(t, c.b)
			if a.Overlaps(b) != c.overlap || b.Overlaps(a) != c.overlap {
				t.Errorf("%q and %q overlap: %v, %v; want %v", a, b, a.Overlaps(b), b.Overlaps(a), c.overlap)
			}
			if a.Conflicts(b) != c.conflicts || b.Conflicts(a) != c.conflicts {
				t.Errorf("%q and %q conflict: %v, %v; want %v", a, b, a.Conflicts(b), b.Conflicts(a), c.conflicts)
			}
			got := Conflicts([]*Route{route(t, "one", c.a), route(t, "two", c.b)})
			if (len(got) == 1) != c.conflicts || len(got) > 1 {
				t.Fatalf("%v", got)
			}
			if c.conflicts {
				for _, part := range []string{`"one"`, `"two"`, `"` + c.a + `"`, `"` + c.b + `"`} {
					if !strings.Contains(got[0].Error(), part) {
						t.Errorf("%q does not name %s", got[0].Error(), part)
					}
				}
			}
		})
	}
	t.Run("RT-PAT-1 patterns inside one route may overlap", func(t *testing.T) {
		if got := Conflicts([]*Route{route(t, "one", "abc* *xyz abc* *abc*")}); got != nil {
			t.Errorf("%v", got)
		}
	})
	t.Run("RT-PAT-1 every pair is listed in the order of the routes", func(t *testing.T) {
		got := Conflicts([]*Route{route(t, "one", "abc* q*"), route(t, "two", "*xyz r*"), route(t, "three", "*mno* q*")})
		var text []string
		for _, c := range got {
			text = append(text, string(c.A)+" "+c.PatternA.String()+" "+string(c.B)+" "+c.PatternB.String())
		}
		want := "one abc* two *xyz|one abc* three *mno*|two *xyz three *mno*|one q* three q*"
		if strings.Join(text, "|") != want {
			t.Errorf("\n got %s\nwant %s", strings.Join(text, "|"), want)
		}
	})
}

// smallNames are all names of at most six letters of a small alphabet: enough
// to hold any two literals of three letters one behind the other.
func smallNames(alphabet string) []string {
	names := []string{""}
	for from, n := 0, 0; n < 6; n++ {
		to := len(names)
		for _, s := range names[from:to] {
			for _, r := range alphabet {
				names = append(names, s+string(r))
			}
		}
		from = to
	}
	return names[1:]
}

// smallPattern draws a pattern whose literal has at most three letters.
func smallPattern(alphabet string) *rapid.Generator[Pattern] {
	return rapid.Custom(func(t *rapid.T) Pattern {
		lit := rapid.StringOfN(rapid.RuneFrom([]rune(alphabet)), 0, 3, -1).Draw(t, "literal")
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		text := [4]string{lit, lit + "*", "*" + lit, "*" + lit + "*"}[kind]
		if text == "" {
			text = "*"
		}
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return p
	})
}

func TestOverlaps_agrees_with_a_search_over_all_small_names(t *testing.T) {
	names := smallNames("aé-")
	rapid.Check(t, func(t *rapid.T) {
		p, q := smallPattern("aé-").Draw(t, "p"), smallPattern("aé-").Draw(t, "q")
		both, witness := false, ""
		for _, n := range names {
			if p.Match(n) && q.Match(n) {
				both, witness = true, n
				break
			}
		}
		if p.Overlaps(q) != both || q.Overlaps(p) != both {
			t.Fatalf("%q and %q: Overlaps says %v and %v; a name that both match: %q", p, q, p.Overlaps(q), q.Overlaps(p), witness)
		}
		if p.Conflicts(q) != (both && p.Specificity() == q.Specificity()) || p.Conflicts(q) != q.Conflicts(p) {
			t.Fatalf("%q and %q: Conflicts says %v", p, q, p.Conflicts(q))
		}
		same := strings.EqualFold(strings.ReplaceAll(p.String(), "**", "*"), strings.ReplaceAll(q.String(), "**", "*"))
		if p.Equal(q) != same {
			t.Fatalf("%q and %q: Equal says %v", p, q, p.Equal(q))
		}
	})
}

// globExpression says what a pattern matches as a regular expression.
func globExpression(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)\A` + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, `.*`) + `\z`)
}

func TestMatch_agrees_with_a_regular_expression(t *testing.T) {
	name := rapid.StringOfN(rapid.RuneFrom([]rune("aAbBéÉ-./[]?\\ \n")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		lit := rapid.StringOfN(rapid.RuneFrom([]rune("aAbBéÉ-./[]?\\ ")), 0, 3, -1).Draw(t, "literal")
		text := rapid.SampledFrom([]string{lit, lit + "*", "*" + lit, "*" + lit + "*", "*"}).Draw(t, "text")
		p, err := ParsePattern(text)
		if err != nil {
			if text != "" {
				t.Fatal(err)
			}
			return
		}
		re := globExpression(text)
		for range 20 {
			m := name.Draw(t, "model")
			if rapid.Bool().Draw(t, "near") {
				m = strings.ReplaceAll(text, "*", m) // usually a match
			}
			if got, want := p.Match(m), re.MatchString(m); got != want {
				t.Fatalf("%q matches %q: %v, want %v", text, m, got, want)
			}
		}
	})
}

func FuzzParsePattern(f *testing.F) {
	for _, s := range []string{"", "*", "**", "***", "a", "a*", "*a", "*a*", "a*b", "É*", "\xff*", "*\xc3", "\u212a*", "İ*"} {
		f.Add(s, "claude-x")
	}
	f.Fuzz(func(t *testing.T, text, model string) {
		p, err := ParsePattern(text)
		inner := strings.TrimSuffix(strings.TrimPrefix(text, "*"), "*")
		if refused := text == "" || strings.Contains(inner, "*"); refused != (err != nil) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		if p.String() != text || p.Specificity() < 0 || p.Specificity() > exactSpecificity {
			t.Fatalf("%q: %+v", text, p)
		}
		if !p.Overlaps(p) || !p.Equal(p) || !p.Conflicts(p) {
			t.Fatalf("%q does not overlap itself", text)
		}
		again, err := ParsePattern(strings.ToUpper(strings.ToLower(text)))
		if err != nil || again.kind != p.kind {
			t.Fatalf("%q in upper case: %+v, %v", text, again, err)
		}
		if !p.Match(strings.ReplaceAll(text, "*", "x")) {
			t.Fatalf("%q does not match itself with the stars filled in", text)
		}
		// What matches overlaps: a model name is an exact pattern.
		if model == "" || strings.Contains(model, "*") || !utf8.ValidString(model) {
			return
		}
		exactly, err := ParsePattern(model)
		if err != nil {
			t.Fatal(err)
		}
		if p.Match(model) != p.Overlaps(exactly) || p.Match(model) != exactly.Overlaps(p) {
			t.Fatalf("%q matches %q: %v; overlaps it: %v", text, model, p.Match(model), p.Overlaps(exactly))
		}
	})
}
