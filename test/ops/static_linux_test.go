package ops

import (
	"debug/elf"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOP_1_one_static_binary: the program needs no interpreter and no library,
// and with nothing beside it, no configuration and no environment it starts
// and answers. For root nothing beside it is meant literally: its folder is
// its whole file system.
func TestOP_1_one_static_binary(t *testing.T) {
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, part := range f.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a part %s, so it is not static", part.Type)
		}
	}
	if libraries, err := f.ImportedLibraries(); len(libraries) > 0 {
		t.Errorf("it needs %q (%v)", libraries, err)
	}

	dir := t.TempDir()
	program := filepath.Join(dir, "interlock")
	whole, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, whole, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, log: &buffer{}, exited: make(chan struct{}), client: &http.Client{Transport: &http.Transport{}}}
	p.cmd = exec.Command(program, "serve", "--set", "server.listen=127.0.0.1:0")
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr, p.cmd.SysProcAttr = []string{}, dir, p.log, dieWithTest()
	welcome := &buffer{}
	p.cmd.Stdout = welcome
	if os.Getuid() == 0 {
		p.cmd.Path, p.cmd.Dir, p.cmd.SysProcAttr.Chroot = "/interlock", "/", dir
	}
	p.run()
	p.listens()
	token, err := os.ReadFile(filepath.Join(dir, "data", "admin-token"))
	if err != nil {
		t.Fatal(err)
	}
	a := p.do(t.Context(), "GET", "/api/v1/providers", "", strings.TrimSpace(string(token)))
	var list struct{ Items []any }
	if err := json.Unmarshal([]byte(a.body), &list); a.status != 200 || err != nil || len(list.Items) != 0 {
		t.Errorf("the admin API: %d %s %v", a.status, a.body, a.err)
	}
	a = p.do(t.Context(), "POST", chatPath, `{"model":"gpt-5","messages":[]}`, firstKey(t, welcome))
	if a.status != 503 || !strings.Contains(a.body, "NO_ROUTE") {
		t.Errorf("a request: %d %s %v", a.status, a.body, a.err)
	}
	p.stop()
}

// firstKey waits for the key that the first start prints.
func firstKey(t *testing.T, welcome *buffer) (key string) {
	t.Helper()
	poll(t, "it prints a key", func() bool {
		before, _, whole := strings.Cut(welcome.String(), "admin token")
		for field := range strings.FieldsSeq(before) {
			if strings.HasPrefix(field, "ilk_") {
				key = field
			}
		}
		return whole && key != ""
	})
	return key
}
