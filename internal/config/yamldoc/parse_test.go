package yamldoc_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

func TestParse_documents(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      int
	}{
		{"nothing", "", 0},
		{"spaces", " \n\n  \n", 0},
		{"comments", "# a\n# b\n", 0},
		{"a separator", "---\n", 0},
		{"null", "null\n", 0},
		{"one", "a: 1\n", 1},
		{"an end marker", "a: 1\n...\n", 1},
		{"a last separator", "a: 1\n---\n", 1},
		{"two", "a: 1\n---\nb: 2\n", 2},
		{"an empty one between", "a: 1\n---\n---\nb: 2\n", 2},
		{"an empty one first", "---\n---\nb: 2\n", 1},
		{"comments between", "a: 1\n---\n# x\n---\n\n---\nb: 2\n---\nc: 3\n", 3},
		{"windows line ends", "a: 1\r\n---\r\n---\r\nb: 2\r\n", 2},
		{"a separator with a comment", "a: 1\n--- # next\nb: 2\n", 2},
		{"a separator in a block text", "a: |\n  x\n  ---\n  y\n", 1},
		{"block texts", "a: |\n  x\n---\nb: >-\n  y\n\n  z\n---\nc: |+\n\n", 3},
		{"a byte order mark", "\ufeffa: 1\n", 1},
		{"empty values", "a:\nb: {}\nc: []\nd: ''\ne: {f}\ng: ~\n", 1},
		{"no last line end", "a: 1", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			docs, ps := yamldoc.Parse("f", []byte(c.src))
			if len(ps) > 0 || len(docs) != c.want {
				t.Errorf("%d documents, want %d; %v", len(docs), c.want, ps)
			}
		})
	}
}

func TestCF1_Parse_refuses(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"UTF-16, little end first", "\xff\xfea\x00", "f:1:1: the file is in UTF-16; save it as UTF-8"},
		{"UTF-16, big end first", "\xfe\xff\x00a", "f:1:1: the file is in UTF-16; save it as UTF-8"},
		{"Latin-1", "a: b\nåä: \xe5\n", "f:2:5: the file is not UTF-8 here (byte 0xe5); save it as UTF-8"},
		{"a control character", "a: 1\nb: x\x07y\n", "f:2:5: the file has the control character U+0007 here; remove it"},
		{"NUL", "\x00", "f:1:1: the file has the control character U+0000 here; remove it"},
		{"a second byte order mark", "a: 1\n\ufeffb: 1\n", "f:2:1: the file has the control character U+FEFF here; remove it"},
		{"a tab before a key", "a:\n\tb: 1\n", "f:2:1: the line is indented with a tab; YAML needs spaces"},
		{"a tab after spaces", "a:\n  b: 1\n  \tc: 1\n", "f:3:3: the line is indented with a tab; YAML needs spaces"},
		{"a tab at the start", "\ta: 1\n", "f:1:2: the line is indented with a tab; YAML needs spaces"},
		{"an open text", "a: \"x\n", `f:1:4: the text that begins here with " is not closed`},
		{"an open single-quoted text", "a: 'x\n", "f:1:4: the text that begins here with ' is not closed"},
		{"an open brace", "a: {b: 1\n", "f:1:4: the { that begins here is not closed; add }"},
		{"a wrong indent", "a: b\n c: d\n", `f:1:4: a ": " is not allowed here; check the indentation, and put a text that has ": " in quotes`},
		{"a list on the line of its key", "a: - b\n", `f:1:4: a list entry ("- ") is not allowed here; begin it on a line of its own`},
		{"a reserved character", "a: @x\n", "f:1:4: a text can't begin with @ or `; put it in quotes"},
		{"a percent sign", "a: %x\n", "f:1:4: YAML directives (%) are not supported; remove the line, or put a text in quotes"},
		{"a directive", "%YAML 1.2\n---\na: 1\n", "f:1:1: YAML directives (%) are not supported; remove the line, or put a text in quotes"},
		{"an explicit key", "? a\n: b\n", `f:1:1: keys that begin with "? " are not supported; write key: value`},
		{"an anchor", "a: &x 1\n", `f:1:4: "&x" begins with &`},
		{"an alias", "a: *x\n", `f:1:4: "*x" begins with *`},
		{"a tag", "a: !!binary x\n", "f:1:4: a text that begins with ! is a YAML tag"},
		{"a merge key", "<<: {a: 1}\n", "f:1:1: merge keys (<<)"},
		{"deep brackets", strings.Repeat("[", 100_000), "f:1:65: lists and mappings are nested too deep"},
		{"deep braces", strings.Repeat("{a: ", 1000), "f:1:257: lists and mappings are nested too deep"},
		{"deep entries", strings.Repeat("- ", 100_000), "f:1:129: lists and mappings are nested too deep"},
		{"too many keys", keys(10_001), "f:10001:7: this mapping has more than 10000 keys"},
		{"a tab in a text", "a: x\ty\n", "f:1:4: there is a tab in or before this text"},
		{"a tab before a value", "a:\tx\n", "f:1:3: there is a tab in or before this text"},
		{"an empty entry, whose value would be the next key", "a:\n- x\n-\nb: 1\n", "f:3:1: this list entry is empty"},
		{"an empty entry before a comment", "a:\n  - # later\n  - x\n", "f:2:3: this list entry is empty"},
		{"an empty entry at the end", "a:\n  -", "f:2:3: this list entry is empty"},
		{"a character that the library drops", "!", "f:1:1: "},
		{"a bracket too many", "a: [b]]\n", "f:1:7: "},
		{"an escape without its digits", "a: \"x\\u12g4\"\n", `f:1:6: this is no character`},
		{"an escape that is cut short", "a: \"\\xD\"\nb: 1\n", `f:1:4: the text that begins here with " is not closed`},
		{"an escape that takes a quote for a digit", "a: \"\\xD\"\nb: \"1\"\n", `f:1:5: this is no character`},
		{"half of a character", "a: \"\\ude00\"\n", `f:1:5: this is no character`},
		{"beyond the last character", "a: \"\\U00110000\"\n", `f:1:5: this is no character`},
		{"half of a character, the first", "a: \"\\ud83dx12345678\"\n", "f:1:"},
		{"a bracket too many behind an escape", "a: [\"\\u00dc\"]]\n", "f:1:14: "},
		{"too much", strings.Repeat("#\n", yamldoc.MaxBytes), "f:1:1: the file has more than 8 MiB; split it"},
	} {
		t.Run("CF-1 "+c.name, func(t *testing.T) {
			start := time.Now()
			_, ps := yamldoc.Parse("f", []byte(c.src))
			if len(ps) != 1 || !strings.HasPrefix(ps[0].Error(), c.want) {
				t.Errorf("got  %s\nwant %s", ps.Error(), c.want)
			}
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// TestCF1_Parse_escapes: json.dumps and PyYAML write what is not ASCII so.
func TestCF1_Parse_escapes(t *testing.T) {
	for src, want := range map[string]string{
		`"\u00dcber"`:                         "Über",
		`"\xD6ver"`:                           "Över",
		`"\U0001F600"`:                        "😀",
		`"\ud83d\ude00!"`:                     "😀!",
		`"\uD83D\uDE00\u00e5"`:                "😀å",
		`"a\u0020 \u00fc b\x2fc"`:             "a  ü b/c",
		`"\\u00dc \\\u00dc \"\u00dc"`:         `\u00dc \Ü "Ü`,
		`"\t\n\r\0\e\_\N\L\P\ \/"`:            "\t\n\r\x00\x1b\u00a0\u0085\u2028\u2029 /",
		"\"\\u00dc\\\n   \\u00dc\\ \\u00dc\"": "ÜÜ Ü",
		"\"\\u00dc\n   u \\\\\n  u\"":         "Ü u \\ u",
		`'\u00dc'`:                            `\u00dc`,
		`\u00dc`:                              `\u00dc`,
	} {
		for _, in := range []string{"%s", "%s\n", "%s # \"\\u00dc\n"} {
			docs, ps := yamldoc.Parse("f", fmt.Appendf(nil, "a: "+in, src))
			var into struct {
				A string `json:"a"`
			}
			if len(ps) > 0 || len(docs) != 1 {
				t.Errorf("%q: %v", src, ps)
				continue
			}
			if d := docs[0].Decode(&into, "", nil); len(d.Problems) > 0 || into.A != want {
				t.Errorf("%q: %q, want %q; %v", src, into.A, want, d.Problems)
			}
		}
	}
	docs, ps := yamldoc.Parse("f", []byte("{\"\\u00fc\": [\"\\u00dc\", x], \"b\": {\"\\U000000e5\": \"\\xe5\"}}\n"))
	if len(ps) > 0 || len(docs) != 1 || docs[0].Locate("b.å").Column != 47 {
		t.Errorf("keys: %v at %v", ps, docs[0].Locate("b.å"))
	}
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%05d: v\n", i)
	}
	return b.String()
}

func TestParse_goes_on_after_a_bad_document(t *testing.T) {
	docs, ps := yamldoc.Parse("f", []byte("a: [1\n---\nb: 2\n---\nc: @\n---\nd: 4\n"))
	if len(docs) != 2 || len(ps) != 2 || ps[0].Pos.Line != 1 || ps[1].Pos.Line != 5 {
		t.Errorf("%d documents, %v", len(docs), ps)
	}
}

func TestParse_many_documents(t *testing.T) {
	docs, ps := yamldoc.Parse("f", []byte(strings.Repeat("---\na: 1\nb: [x, {y: z}]\n", 10_000)))
	if len(docs) != 10_000 || len(ps) > 0 {
		t.Errorf("%d documents, %v", len(docs), ps)
	}
	if at := docs[9_999].Locate("b[1].y").String(); at != "f:30000:12" {
		t.Errorf("the last is at %s", at)
	}
}

func TestParseValue(t *testing.T) {
	d, ps := yamldoc.ParseValue("--set", 3, 10, "{a: [1, x]}")
	if len(ps) > 0 || d.Locate("a[1]").String() != "--set:3:19" {
		t.Errorf("%v at %s", ps, d.Locate("a[1]"))
	}
	if _, ps := yamldoc.ParseValue("--set", 3, 10, "a\n---\nb"); len(ps) != 1 || ps[0].Pos.Line != 3 {
		t.Errorf("two documents: %v", ps)
	}
	if d, ps := yamldoc.ParseValue("--set", 1, 1, ""); len(ps) > 0 || !d.Empty() {
		t.Errorf("nothing: %v", ps)
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"listen", "maxRetries", "apiKey", "Provider"}
	for word, want := range map[string]string{
		"lisen": "listen", "lsiten": "listen", "LISTEN": "listen", "maxRetry": "maxRetries", "apikey": "apiKey", "provider": "Provider",
		"x": "", "": "", "completely": "", strings.Repeat("a", 10_000): "",
	} {
		if got := yamldoc.Suggest(word, known); got != want {
			t.Errorf("%.20s: got %q, want %q", word, got, want)
		}
	}
}

// FuzzParse looks for text that the library or the decoder can't bear. Every
// problem must have a message, and a place that is in the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "a: 1\n", "a: [1, {b: c}]\n---\n- x\n", "a: |\n  x\n", "? a\n", "&a *a !a", "a: 'x", "{a: {b: [}]}", "- - - a", "a: \"\\u00e5\"",
		"a: \"\\ud83d\\ude00\\xe5\\U0001F600\\\\u\"", "\"\\u\\u0041\": \"\\\n\\x\"",
		"---\n---\nx: y\n...\n", "\ta: 1", "a:\r\n  b: 1\r\n", "a: b: c", "a: >-\n  x\n\n y\n", "[a, b: c]", "\"a\": 'b'", "a: 0x1f\nb: 1e3\nc: .inf\n", "{\n", "a: #c\n", "-\n-\n",
		"\r\r0", "!", "a:\n-\ng:", "\n0\t\t----\t\n", ">-\n 00\n\n 0", "{a: [env:X, b:c:d], 'e':f}", "...0", "{b:}",
	} {
		f.Add(s)
	}
	type inner struct {
		N    int               `json:"n"`
		F    *float64          `json:"f"`
		B    bool              `json:"b"`
		M    map[string]string `json:"m"`
		When *time.Time        `json:"when"`
	}
	type target struct {
		A string      `json:"a"`
		L []inner     `json:"l"`
		I inner       `json:"i"`
		R yamldoc.Doc `json:"r"`
	}
	f.Fuzz(func(t *testing.T, src string) {
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src), "\n")
		start := time.Now()
		docs, ps := yamldoc.Parse("f", []byte(src))
		for _, d := range docs {
			var into target
			ps = append(ps, d.Decode(&into, "", nil).Problems...)
			d.Locate("l[0].m.x")
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q took %v", src, d)
		}
		for _, p := range ps {
			if p.Message == "" || p.Pos == nil || p.Pos.Line < 1 || p.Pos.Column < 1 || p.Pos.Line > len(lines)+1 {
				t.Errorf("%q: problem %v at %v", src, p, p.Pos)
			}
		}
	})
}
