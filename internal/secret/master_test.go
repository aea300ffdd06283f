package secret_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/secret"
)

func masters(t *testing.T, dir string, env map[string]string) ([][]byte, error) {
	t.Helper()
	return secret.MasterKeys(t.Context(), dir, func(n string) (string, bool) { v, ok := env[n]; return v, ok })
}

func TestMasterKeys_OP_9_makes_one_and_finds_it_again(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first, err := masters(t, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := masters(t, dir, nil)
	if err != nil || len(again) != 1 || !bytes.Equal(first[0], again[0]) || len(first[0]) != 32 {
		t.Errorf("%d keys, %v", len(again), err)
	}
	info, err := os.Stat(filepath.Join(dir, "master.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestMasterKeys_OP_9_sources(t *testing.T) {
	a, b := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 40)
	both := base64.StdEncoding.EncodeToString(a) + "," + base64.StdEncoding.EncodeToString(b)
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(both, ",", "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]map[string]string{
		"the environment": {"INTERLOCK_MASTER_KEY": both, "INTERLOCK_MASTER_KEY_FILE": "/nowhere"},
		"a file":          {"INTERLOCK_MASTER_KEY_FILE": file},
		"a command":       {"INTERLOCK_MASTER_KEY_COMMAND": "cat " + file},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := masters(t, t.TempDir(), env)
			if err != nil || len(got) != 2 || !bytes.Equal(got[0], a) || !bytes.Equal(got[1], b) {
				t.Errorf("%d keys, %v", len(got), err)
			}
		})
	}
	for name, env := range map[string]map[string]string{
		"a short key":         {"INTERLOCK_MASTER_KEY": "short"},
		"a missing file":      {"INTERLOCK_MASTER_KEY_FILE": file + ".none"},
		"a failing command":   {"INTERLOCK_MASTER_KEY_COMMAND": "exit 3"},
		"a command's silence": {"INTERLOCK_MASTER_KEY_COMMAND": "true"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			if _, err := masters(t, t.TempDir(), env); err == nil || strings.Contains(err.Error(), "short,") {
				t.Errorf("err %v", err)
			}
		})
	}
}
