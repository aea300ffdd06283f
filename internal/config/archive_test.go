package config_test

import (
	"os"
	"strings"
	"testing"
)

// archive is a text file that holds others, each after a line "-- name --".
type archive struct {
	comment string
	files   []archived
}

type archived struct{ name, text string }

func readArchive(t *testing.T, path string) *archive {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{}
	for line := range strings.Lines(string(b)) {
		name, isHeader := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
		if name, ok := strings.CutSuffix(name, " --"); ok && isHeader {
			a.files = append(a.files, archived{name: name})
			continue
		}
		if len(a.files) == 0 {
			a.comment += line
			continue
		}
		a.files[len(a.files)-1].text += line
	}
	return a
}

func (a *archive) file(name string) (string, bool) {
	for _, f := range a.files {
		if f.name == name {
			return f.text, true
		}
	}
	return "", false
}

// rewrite writes the archive with one file replaced.
func (a *archive) rewrite(t *testing.T, path, name, text string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(a.comment)
	for _, f := range a.files {
		if f.name != name {
			b.WriteString("-- " + f.name + " --\n" + f.text)
		}
	}
	b.WriteString("-- " + name + " --\n" + text)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
