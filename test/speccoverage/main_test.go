package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const pageText = `# ids

finished: 1

| id | requirement | steps |
| --- | --- | --- |
| RT-PICK | which route | 1 |
| RT-PICK-1 | never falls through | 1 |
| RQ-3a | same model | 1, 4 |
| ER-TIE | a tie | 3 |
| LG-1 | old files | later |
| UI | pages | 2, later |
`

func TestNamesAreFound(t *testing.T) {
	for _, tc := range []struct {
		name, file, text string
		want             string // ids, sorted as in the page
	}{
		{"a function", "a_test.go", "package a\nfunc TestRT_PICK_1_fails_closed(t *T) {}", "RT-PICK-1"},
		{"a function with capital words", "a_test.go", "package a\nfunc TestRT_PICK_FailsClosed(t *T) {}", "RT-PICK"},
		{"a function with one capital", "a_test.go", "package a\nfunc TestRT_PICK_A(t *T) {}", "RT-PICK"},
		{"a word that is a number of another list", "a_test.go", "package a\nfunc TestRQ_3a_R40_bodies(t *T) {}", "RQ-3a"},
		{"an id behind other words", "a_test.go", "package a\nfunc TestDecide_RT_PICK(t *T) {}", "RT-PICK"},
		{"a small letter in an id", "a_test.go", "package a\nfunc FuzzRQ_3a_envelope(f *F) {}", "RQ-3a"},
		{"a subtest", "a_test.go", "package a\nfunc TestX(t *T) { t.Run(\"ER-TIE: two\", nil) }", "ER-TIE"},
		{"a table row in backquotes", "a_test.go", "package a\nvar rows = []string{`RT-PICK, RT-PICK-1 both`}", "RT-PICK RT-PICK-1"},
		{"a longer id is not its start", "a_test.go", "package a\nvar s = \"RT-PICK-1\"", "RT-PICK-1"},
		{"a short id", "a_test.go", "package a\nvar s = \"UI overview\"", "UI"},
		{"a short id with a number behind it", "a_test.go", "package a\nfunc TestUI_503(t *T) {}", "UI"},
		{"a short id that is a word", "a_test.go", "package a\nvar s = \"the UI is up\"", ""},
		{"a comment does not count", "a_test.go", "package a\n// RT-PICK\nfunc TestX(t *T) {}", ""},
		{"a helper does not count", "a_test.go", "package a\nfunc checkRT_PICK() {}", ""},
		{"code does not count", "a.go", "package a\nvar s = \"RT-PICK\"", ""},
		{"an import does not count", "a_test.go", "package a\nimport _ \"x/RT-PICK\"", ""},
		{"a scenario's head", "a.txtar", "RT-PICK-1: closed\n-- config.yaml --\n# ER-TIE\n", "RT-PICK-1"},
		{"a scenario without head", "a.txtar", "-- config.yaml --\n# ER-TIE\n", ""},
		{"a browser test", "a.test.mjs", "// ER-TIE\ntest('RT-PICK picks', async () => {})", "RT-PICK"},
		{"words in capitals", "a_test.go", "package a\nvar s = \"GET /x OK AB-CD HTTP-2\"", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := parsePage(pageText)
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			write(t, filepath.Join(root, "sub", tc.file), tc.text)
			found, err := scan(root, p)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range p.rows {
				if found.named[r.id] {
					got = append(got, r.id)
				}
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("got %q, want %q", s, tc.want)
			}
			if len(found.unknown) > 0 {
				t.Errorf("unknown ids: %v", found.unknown)
			}
		})
	}
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		name, test string
		args       []string
		code       int
		out        string
	}{
		{"all named", "RT-PICK RT-PICK-1 RQ-3a", nil, 0, ""},
		{"one is missing", "RT-PICK RQ-3a", nil, 1, "RT-PICK-1\tno test names it: never falls through\n"},
		{"a later step is not due", "RT-PICK RT-PICK-1 RQ-3a ER-TIE", nil, 0, ""},
		{"as if steps were finished", "RT-PICK RT-PICK-1 RQ-3a UI", []string{"-step", "3"}, 1, "ER-TIE\tno test names it: a tie\n"},
		{"an unknown id", "RT-PICK RT-PICK-1 RQ-3a RT-PICK-7", nil, 1, "RT-PICK-7\t"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, filepath.Join(root, "docs", "spec-ids.md"), pageText)
			write(t, filepath.Join(root, "x", "x_test.go"), "package x\nvar s = \""+tc.test+"\"")
			var out, errOut bytes.Buffer
			if code := run(append([]string{"-root", root}, tc.args...), &out, &errOut); code != tc.code {
				t.Errorf("exit code %d, want %d; %s%s", code, tc.code, &out, &errOut)
			}
			if !strings.HasPrefix(out.String(), tc.out) || tc.out == "" && out.Len() > 0 {
				t.Errorf("printed %q, want %q", out.String(), tc.out)
			}
		})
	}
}

func TestBadPages(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no finished line": {"| RT-A | x | 1 |", "no line"},
		"no rows":          {"finished: none", "no rows"},
		"twice":            {"finished: 1\n| RT-A | x | 1 |\n| RT-A | y | 2 |", "line 3: RT-A is there twice"},
		"not a step":       {"finished: 1\n| RT-A | x | soon |", `line 2: "soon" is not a step`},
		"finished what":    {"finished: all\n| RT-A | x | 1 |", `line 1: "all" is not a step`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parsePage(tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}

// TestThePageItself keeps docs/spec-ids.md readable and without gaps.
func TestThePageItself(t *testing.T) {
	p, err := readPage(filepath.Join("..", "..", "docs", "spec-ids.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps := map[int]int{}
	for _, r := range p.rows {
		for _, n := range r.steps {
			steps[n]++
		}
	}
	for n := 1; n <= 12; n++ {
		if steps[n] == 0 {
			t.Errorf("no requirement belongs to step %d", n)
		}
	}
	if len(p.rows) < 180 {
		t.Errorf("%d rows; some are gone or no longer read", len(p.rows))
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
