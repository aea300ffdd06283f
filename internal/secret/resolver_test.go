package secret_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/interlock-gateway/interlock/internal/secret"
)

func TestResolver(t *testing.T) {
	files := map[string]string{
		"conf/key": "from-file\n", "/abs/key": "absolute", "conf/crlf": "windows\r\n", "conf/two": "two lines\n\n",
		"conf/empty": "\n", "conf/big": strings.Repeat("x", secret.MaxBytes+1), "conf/largest": strings.Repeat("x", secret.MaxBytes) + "\n",
	}
	r := secret.NewResolver(secret.Options{
		Dir: "conf",
		LookupEnv: func(name string) (string, bool) {
			v, ok := map[string]string{"KEY": "from-env\n", "EMPTY": "", "HUGE": strings.Repeat("x", secret.MaxBytes+1)}[name]
			return v, ok
		},
		ReadFile: func(path string) ([]byte, error) {
			if path == "conf/denied" {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
			}
			if s, ok := files[path]; ok {
				return []byte(s), nil
			}
			return nil, fs.ErrNotExist
		},
	})
	for ref, want := range map[string]string{
		"":                "",
		"env:KEY":         "from-env\n",
		"file:key":        "from-file",
		"file:./key":      "from-file",
		"file:../x/key":   "",
		"file:/abs/key":   "absolute",
		"file:crlf":       "windows",
		"file:two":        "two lines\n",
		"file:largest":    strings.Repeat("x", secret.MaxBytes),
		"sk-literal":      "sk-literal",
		"ENV:KEY":         "ENV:KEY",
		"literal:env:KEY": "literal:env:KEY",
	} {
		got, err := r.Resolve(ref)
		if ref == "file:../x/key" {
			if !errors.Is(err, secret.ErrMissing) {
				t.Errorf("%s: got %v", ref, err)
			}
			continue
		}
		if err != nil || got.Reveal() != want {
			t.Errorf("%.30s: got %.30q, %v", ref, got.Reveal(), err)
		}
	}
	for ref, say := range map[string]string{
		"env:NONE":    "environment variable NONE is not set",
		"env:EMPTY":   "environment variable EMPTY is empty",
		"env:HUGE":    "environment variable HUGE is longer than 65536 bytes",
		"file:none":   "file conf/none does not exist",
		"file:empty":  "file conf/empty is empty",
		"file:denied": "file conf/denied may not be read by this user",
		"file:big":    "file conf/big is longer than 65536 bytes",
	} {
		got, err := r.Resolve(ref)
		if err == nil || err.Error() != say || !got.IsZero() {
			t.Errorf("%s: got %v; want %q", ref, err, say)
		}
		e, ok := errors.AsType[*secret.Error](err)
		if !ok || e.Source == "" {
			t.Errorf("%s: no *secret.Error: %v", ref, err)
		}
		if missing := strings.HasSuffix(say, "set") || strings.HasSuffix(say, "empty") || strings.HasSuffix(say, "exist"); errors.Is(err, secret.ErrMissing) != missing {
			t.Errorf("%s: ErrMissing: %v", ref, !missing)
		}
	}
	if _, err := r.Resolve(strings.Repeat("z", secret.MaxBytes+1)); err == nil || strings.Contains(err.Error(), "zz") {
		t.Errorf("a literal that is too long: %.80v", err)
	}
}

func TestResolver_reads_the_disk(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("v\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("INTERLOCK_TEST_KEY", "e")
	r := secret.NewResolver(secret.Options{Dir: dir})
	for ref, want := range map[string]string{"file:key": "v", "env:INTERLOCK_TEST_KEY": "e"} {
		if got, err := r.Resolve(ref); err != nil || got.Reveal() != want {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for ref, say := range map[string]string{"file:big": "longer", "file:.": "not a regular file", "file:/dev/zero": "not a regular file", "file:pipe": "not a regular file"} {
		if _, err := r.Resolve(ref); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: got %v; want %q", ref, err, say)
		}
	}
}
