package config_test

import (
	"errors"
	"flag"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/resource"
)

var update = flag.Bool("update", false, "rewrite the golden part of testdata/*.txtar")

// fakeOS answers for files and environment.
type fakeOS struct {
	files map[string]string
	env   map[string]string
}

func (f fakeOS) options(main string, sets ...string) config.Options {
	return config.Options{
		Path: main, Sets: sets,
		LookupEnv: func(name string) (string, bool) { v, ok := f.env[name]; return v, ok },
		ReadFile: func(name string) ([]byte, error) {
			if b, ok := f.files[filepath.Clean(name)]; ok {
				return []byte(b), nil
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		},
		Glob: func(pattern string) ([]string, error) {
			var out []string
			for name := range f.files {
				ok, err := path.Match(filepath.Clean(pattern), name)
				if err != nil {
					return nil, err
				}
				if ok {
					out = append(out, name)
				}
			}
			return out, nil
		},
	}
}

// loadText loads one configuration file without anything around it.
func loadText(t *testing.T, src string, sets ...string) (*config.Loaded, error) {
	t.Helper()
	return config.Load(fakeOS{files: map[string]string{"interlock.yaml": src}}.options("interlock.yaml", sets...))
}

// TestCF1_Golden loads every testdata/*.txtar. The files of an archive are the
// files on disk; "env" and "sets" hold one entry a line; "want" is the error,
// or "ok".
func TestCF1_Golden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run("CF-1 "+strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a := readArchive(t, name)
			f := fakeOS{files: map[string]string{}, env: map[string]string{}}
			var sets []string
			for _, file := range a.files {
				switch file.name {
				case "env":
					for line := range strings.Lines(file.text) {
						k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
						f.env[k] = v
					}
				case "sets":
					sets = strings.Split(strings.TrimSuffix(file.text, "\n"), "\n")
				case "want":
				default:
					f.files[file.name] = file.text
				}
			}
			main := ""
			for _, p := range []string{"interlock.yaml", "conf/interlock.yaml"} {
				if _, ok := f.files[p]; ok {
					main = p
				}
			}
			got := "ok\n"
			if _, err := config.Load(f.options(main, sets...)); err != nil {
				if _, ok := errors.AsType[resource.Problems](err); !ok {
					t.Errorf("the error is no resource.Problems: %v", err)
				}
				got = err.Error() + "\n"
			}
			if *update {
				a.rewrite(t, name, "want", got)
				return
			}
			want, _ := a.file("want")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
			for secretValue := range secretValues(f.env) {
				if strings.Contains(got, secretValue) {
					t.Errorf("the error shows the value of a variable:\n%s", got)
				}
			}
		})
	}
}

// secretValues gives the values of the environment that are long enough to be
// looked for.
func secretValues(env map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, v := range env {
		if len(v) > 5 {
			out[v] = true
		}
	}
	return out
}

// problemsOf gives the problems of an error, or fails.
func problemsOf(t *testing.T, err error) resource.Problems {
	t.Helper()
	ps, ok := errors.AsType[resource.Problems](err)
	if !ok {
		t.Fatalf("want problems, got %v", err)
	}
	return slices.Clone(ps)
}
