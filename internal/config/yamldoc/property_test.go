package yamldoc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// tree is a random YAML value together with its text.
type tree struct {
	b     *strings.Builder
	words map[string]word // by path
	next  int
}

// word is a scalar: how it is written, and what it means.
type word struct{ written, value string }

// TestLocate_points_at_what_was_written renders random values in random styles
// and looks each scalar up by its path: the text at the place must be it.
func TestLocate_points_at_what_was_written(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := &tree{b: &strings.Builder{}, words: map[string]word{}}
		if rapid.Bool().Draw(t, "header") {
			tr.b.WriteString("# first\n---\n")
		}
		tr.blockMapping(t, "", 0, 3)
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		src := strings.ReplaceAll(tr.b.String(), "\n", newline)
		docs, ps := Parse("f", []byte(src))
		if len(ps) > 0 || len(docs) != 1 {
			t.Fatalf("%d documents, %v in\n%s", len(docs), ps, src)
		}
		lines := strings.Split(src, newline)
		for _, path := range slices.Sorted(maps.Keys(tr.words)) {
			want := tr.words[path]
			pos := docs[0].Locate(path)
			rest := string([]rune(lines[pos.Line-1])[pos.Column-1:])
			if !strings.HasPrefix(rest, want.written) {
				t.Fatalf("%s is at %s, where %q stands instead of %q in\n%s", path, pos, rest, want.written, src)
			}
			if got := valueAt(docs[0], path); got != want.value {
				t.Fatalf("%s is %q, want %q in\n%s", path, got, want.value, src)
			}
		}
	})
}

// valueAt gives the scalar at a path as text.
func valueAt(d *Doc, path string) string {
	node := d.body
	for _, s := range splitPath(path) {
		if s.isIndex {
			node = element(node, s.index)
		} else {
			_, node = member(node, s.field)
		}
	}
	if s, ok := text(node); ok {
		return s
	}
	return node.String()
}

func (tr *tree) key(t *rapid.T) (name, written string) {
	tr.next++
	name = fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"k", "key-", "å", "a.b"}).Draw(t, "key"), tr.next)
	if rapid.IntRange(0, 4).Draw(t, "quoted key") == 0 {
		return name, `"` + name + `"`
	}
	return name, name
}

func (tr *tree) scalar(t *rapid.T, path string) {
	tr.next++
	n := fmt.Sprint(tr.next)
	w := rapid.SampledFrom([]word{
		{"w" + n, "w" + n},
		{n, n},
		{"true", "true"},
		{"\"q ä# {" + n + "\"", "q ä# {" + n},
		{"'it''s " + n + "'", "it's " + n},
		{"two words " + n, "two words " + n},
		{"1.5", "1.5"},
		{"https://a.example:8080/x", "https://a.example:8080/x"},
		{"claude-*", "claude-*"},
		{"env:NAME", "env:NAME"},
		{"file:./a/b c", "file:./a/b c"},
		{"host:80", "host:80"},
		{"10:30:05", "10:30:05"},
		{"a::b", "a::b"},
		{"\"\"", ""},
		{"x#y", "x#y"},
		{"-1", "-1"},
		{"-x", "-x"},
		{"it's", "it's"},
		{"\"a\\\"b\"", "a\"b"},
		{"2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z"},
	}).Draw(t, "scalar")
	tr.words[path] = w
	tr.b.WriteString(w.written)
}

func (tr *tree) comment(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "", " # note: {x"}).Draw(t, "comment")
}

func (tr *tree) blockMapping(t *rapid.T, path string, indent, depth int) {
	for i := range rapid.IntRange(1, 4).Draw(t, "entries") {
		if i > 0 || indent == 0 {
			tr.b.WriteString(rapid.SampledFrom([]string{"", "", "", "\n", "\n  \n", "# note: [\n", strings.Repeat(" ", indent) + "# - x\n"}).Draw(t, "between"))
			tr.b.WriteString(strings.Repeat(" ", indent))
		}
		name, written := tr.key(t)
		tr.b.WriteString(written + ":")
		tr.blockValue(t, resource.JoinPath(path, name), indent, depth)
	}
}

func (tr *tree) blockValue(t *rapid.T, path string, indent, depth int) {
	style := rapid.IntRange(0, 6).Draw(t, "style")
	switch {
	case style == 5:
		head := rapid.SampledFrom([]string{"|", ">", "|-", ">-"}).Draw(t, "block text")
		value := "text: [1\n\n  # more\nend\n"
		if strings.HasSuffix(head, "-") {
			value = strings.TrimSuffix(value, "\n")
		}
		tr.words[path] = word{head, value}
		pad := strings.Repeat(" ", indent+2)
		tr.b.WriteString(" " + head + "\n" + pad + "text: [1\n\n" + pad + "  # more\n" + pad + "end\n")
	case style == 6:
		pad := strings.Repeat(" ", indent+2)
		start := rapid.SampledFrom([]string{"several", `"several`, "'several"}).Draw(t, "long text")
		end := strings.TrimSuffix(start, "several")
		tr.words[path] = word{start, "several lines\nof text"}
		tr.b.WriteString(" " + start + "\n" + pad + "lines\n\n" + pad + "of text" + end + "\n")
	case depth == 0 || style <= 1:
		tr.b.WriteString(rapid.SampledFrom([]string{" ", "   "}).Draw(t, "gap"))
		tr.scalar(t, path)
		tr.b.WriteString(tr.comment(t) + "\n")
	case style == 2:
		tr.b.WriteString(" ")
		tr.flow(t, path, depth-1)
		tr.b.WriteString(tr.comment(t) + "\n")
	case style == 3:
		tr.b.WriteString(tr.comment(t) + "\n" + strings.Repeat(" ", indent+2))
		tr.blockMapping(t, path, indent+2, depth-1)
	default:
		tr.b.WriteString(tr.comment(t) + "\n")
		for i := range rapid.IntRange(1, 3).Draw(t, "items") {
			tr.b.WriteString(strings.Repeat(" ", indent+2) + "- ")
			at := resource.IndexPath(path, i)
			if rapid.Bool().Draw(t, "mapping item") {
				tr.blockMapping(t, at, indent+4, depth-1)
				continue
			}
			tr.scalar(t, at)
			tr.b.WriteString("\n")
		}
	}
}

func (tr *tree) flow(t *rapid.T, path string, depth int) {
	n := rapid.IntRange(0, 3).Draw(t, "flow entries")
	isMap := rapid.Bool().Draw(t, "flow mapping")
	tr.b.WriteString(map[bool]string{true: "{", false: "["}[isMap])
	for i := range n {
		if i > 0 {
			tr.b.WriteString(", ")
		}
		at := resource.IndexPath(path, i)
		if isMap {
			name, written := tr.key(t)
			tr.b.WriteString(written + ": ")
			at = resource.JoinPath(path, name)
		}
		if depth > 0 && rapid.IntRange(0, 2).Draw(t, "nest") == 0 {
			tr.flow(t, at, depth-1)
			continue
		}
		tr.scalar(t, at)
	}
	tr.b.WriteString(map[bool]string{true: "}", false: "]"}[isMap])
}
