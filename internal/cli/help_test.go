package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "rewrite testdata/help")

// TestCL_help compares the help of every command with testdata/help.
func TestCL_help(t *testing.T) {
	seen := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "_") + ".txt"
		seen[name] = true
		t.Run(c.CommandPath(), func(t *testing.T) { compareHelp(t, c, filepath.Join("testdata", "help", name)) })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(newEnvironment(&bytes.Buffer{}, &bytes.Buffer{})))
	files, err := filepath.Glob("testdata/help/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[filepath.Base(f)] {
			t.Errorf("%s is of no command; remove it", f)
		}
	}
}

func compareHelp(t *testing.T, c *cobra.Command, file string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Main(append(strings.Fields(c.CommandPath())[1:], "--help"), &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d, standard error %q", code, errs.String())
	}
	for i, line := range strings.Split(c.Long, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("line %d of the text has %d characters; terminals have 80", i+1, n)
		}
	}
	if c.Short == "" || c.Runnable() && c.Example == "" && !c.HasSubCommands() {
		t.Error("it needs a short description and an example")
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test ./internal/cli -update", err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("the help differs from %s; run go test ./internal/cli -update and review:\n%s", file, diff)
	}
}
