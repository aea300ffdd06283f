package cli

import (
	"bytes"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"30d": 30 * day, "2w": 14 * day, "24h": day, "90m": 90 * time.Minute, "0s": 0, "0d": 0, "1h30m": 90 * time.Minute, "36500d": 36500 * day,
	} {
		if got, err := parseDuration(in); err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "d", "30", "-1d", "-5m", "36501d", "99999999999999999999d", "1.5d", "30 d", "soon", "5215w"} {
		if got, err := parseDuration(in); err == nil {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestParseEnd(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 500, time.UTC)
	for in, want := range map[string]string{
		"30d":                       "2026-12-30T12:00:00Z",
		"12h":                       "2026-12-01T00:00:00Z",
		"2026-11-30":                "2026-11-30T23:59:59Z", // today is not over
		"2027-06-30":                "2027-06-30T23:59:59Z",
		"2027-06-30T12:00:00+02:00": "2027-06-30T10:00:00Z",
	} {
		if got, err := parseEnd(in, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "0d", "2026-11-29", "2026-11-30T12:00:00Z", "2027-02-30", "tomorrow"} {
		if got, err := parseEnd(in, now); err == nil {
			t.Errorf("%s: %v", in, got)
		}
	}
}

// fakeEnvironment is one without a terminal, and with these variables.
func fakeEnvironment(in string, vars map[string]string) (e *environment, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &environment{
		in: strings.NewReader(in), out: out, err: errs, now: time.Now,
		lookup:    func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		questions: func() io.Writer { return nil },
	}, out, errs
}

func TestCL_confirm(t *testing.T) {
	e, _, errs := fakeEnvironment("y\n", nil)
	if err := e.confirm("Sure?"); err != errCantAsk || errs.Len() > 0 { //nolint:errorlint // it is that one
		t.Errorf("without a terminal: %v, %q", err, errs)
	}
	for in, want := range map[string]bool{"y\n": true, "YES\n": true, " yes \r\n": true, "y": true, "n\n": false, "\n": false, "": false, "yeah\n": false} {
		e, _, errs := fakeEnvironment(in, nil)
		e.questions = func() io.Writer { return errs }
		if err := e.confirm("Sure?"); (err == nil) != want || errs.String() != "Sure? [y/N] " {
			t.Errorf("%q: %v, %q", in, err, errs)
		}
	}
}

func TestCL_colours_are_for_terminals(t *testing.T) {
	p := &plan{Changes: []control.Diff{
		{Action: "delete", Kind: "Key", Name: "k", Fields: []control.FieldDiff{{Path: "type", Before: "pat"}}},
		{Action: "update", Kind: "Provider", Name: "p", Fields: []control.FieldDiff{{Path: "residency", Before: "eu", After: nil}}},
		{Action: "create", Kind: "Route", Name: "r", Fields: []control.FieldDiff{{Path: "modelPatterns[0]", After: "<a>&\u001b[2J"}}},
	}}
	p.sort()
	e, out, _ := fakeEnvironment("", nil)
	e.printPlan(p)
	plain := "create Route \"r\"\n  modelPatterns[0]: \"<a>&\\u001b[2J\"\n" +
		"update Provider \"p\"\n  residency: \"eu\" → (not set)\n" +
		"delete Key \"k\" (revoked: its secrets never work again)\n"
	if out.String() != plain {
		t.Errorf("got\n%s\nwant\n%s", out, plain)
	}
	e.colours = true
	out.Reset()
	e.printPlan(p)
	if !strings.HasPrefix(out.String(), "\x1b[32mcreate Route \"r\"\x1b[0m\n") || strings.Count(out.String(), "\x1b[") != 6 {
		t.Errorf("got %q", out)
	}
}

func TestCL_null_device_is_no_terminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(null) || isTerminal(&bytes.Buffer{}) {
		t.Error("it counts as a terminal")
	}
}

func TestConnect(t *testing.T) {
	for _, row := range []struct {
		flag       string
		vars       map[string]string
		base, from string
	}{
		{"", map[string]string{tokenEnv: "a"}, defaultServer, tokenEnv},
		{"", map[string]string{adminTokenEnv: "b", serverEnv: "https://x.example/"}, "https://x.example", adminTokenEnv},
		{"http://h:1/base/api/v1", map[string]string{tokenEnv: "a", adminTokenEnv: "b", serverEnv: "https://x.example"}, "http://h:1/base", tokenEnv},
		{"", map[string]string{tokenEnv: "", adminTokenEnv: "b"}, defaultServer, adminTokenEnv},
	} {
		e, _, _ := fakeEnvironment("", row.vars)
		c, err := e.connect(row.flag)
		if err != nil || c.base != row.base || c.tokenFrom != row.from {
			t.Errorf("%+v: %+v, %v", row, c, err)
		}
	}
	for _, bad := range []string{"localhost:8080", "ftp://h", "http://", "http://user:secret@h", "http://h?x=1", "http://h/#f", "::"} {
		e, _, _ := fakeEnvironment("", map[string]string{tokenEnv: "a"})
		if c, err := e.connect(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v", bad, c, err)
		}
	}
}

// TestCF_1_stand_ins: without secrets a configuration is as valid as with them.
func TestCF_1_stand_ins(t *testing.T) {
	files := map[string]string{
		"conf/interlock.yaml": `
auth: {adminTokens: [env:A, file:tokens/a, file:/abs/b]}
resources:
  files: [r.yaml]
  inline:
    - {kind: Key, name: one, type: service, secret: file:keys/one}
    - {kind: Key, name: two, type: service, secret: env:TWO}
`,
		"conf/r.yaml": `
{kind: Provider, name: p, type: anthropic, apiKey: env:P}
---
{kind: Provider, name: q, type: openai, apiKey: file:keys/q}
---
{kind: Key, name: three, type: service, secret: env:THREE}
`,
	}
	var read []string
	o := newStandIns("conf").options("conf/interlock.yaml", func(path string) ([]byte, error) {
		read = append(read, path)
		src, ok := files[path]
		if !ok {
			return nil, os.ErrNotExist
		}
		return []byte(src), nil
	}, false)
	o.Glob = func(pattern string) ([]string, error) { return []string{pattern}, nil }
	loaded, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded.Documents) != 5 || strings.Join(read, " ") != "conf/interlock.yaml conf/r.yaml" {
		t.Errorf("%d documents of %v", len(loaded.Documents), read)
	}
	set := &documentSet{docs: loaded.Documents}
	if err := set.compile(false); err != nil || len(set.problems) > 0 {
		t.Errorf("%v, %v", err, set.problems)
	}
}

// TestCF_1_shared_secret: what is wrong with references themselves is found.
func TestCF_1_shared_secret(t *testing.T) {
	docs, problems := config.ReadDocuments("a.yaml", []byte("{kind: Key, name: one, type: service, secret: env:SAME}\n---\n{kind: Key, name: two, type: service, secret: env:SAME}\n"))
	set := &documentSet{docs: docs, problems: problems}
	if err := set.compile(false); err != nil || len(set.problems) != 1 || set.problems[0].Code != resource.CodeConflict {
		t.Errorf("%v, %v", err, set.problems)
	}
}

// TestOP_9_new_secrets_are_not_in_the_key: the value that is shown once is
// nowhere else.
func TestOP_9_new_secrets_are_not_in_the_key(t *testing.T) {
	k, err := readKey([]byte(`{"kind":"Key","name":"a","type":"pat","id":"x","secret":"ilk_value","last4":"alue","active":true}`), true)
	if err != nil || k.NewSecret != "ilk_value" || k.Secret != "" || k.shownSecret() != "…alue" || strings.Contains(k.summary(), "ilk_") {
		t.Errorf("%+v, %v", k, err)
	}
}

func TestKeyState(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	before, after, later := now.Add(-day), now.Add(day), now.Add(2*day)
	off := false
	for want, k := range map[string]key{
		"active":    {Active: true, Last4: "abcd"},
		"ending":    {Active: true, Last4: "abcd", EndsAt: &after},
		"ended":     {Active: true, Last4: "abcd", EndsAt: &before},
		"no secret": {},
		"inactive":  {Last4: "abcd"},
		"off":       {Active: true, Last4: "abcd", Key: resource.Key{Meta: resource.Meta{Enabled: &off}}},
	} {
		if got := k.state(now); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	expired := key{Active: true, Last4: "abcd", Key: resource.Key{ExpiresAt: &before}, EndsAt: &after}
	if got := expired.state(now); got != "ended" {
		t.Errorf("expired: %s", got)
	}
	first := key{Key: resource.Key{ExpiresAt: &later}, EndsAt: &after}
	if got := first.end(); got != &after {
		t.Errorf("the end is %v", got)
	}
	declared := key{Active: true, Key: resource.Key{Secret: "env:X", Team: "t", Owner: &resource.KeyOwner{User: "anna"}}}
	if declared.state(now) != "active" || declared.shownSecret() != "env:X" || declared.whose() != "user:anna,team:t" {
		t.Errorf("declared: %s, %s, %s", declared.state(now), declared.shownSecret(), declared.whose())
	}
}

// TestCL_removed_references: null goes to the server for what a document took
// away, at any depth.
func TestCL_removed_references(t *testing.T) {
	p := &resource.Provider{Meta: resource.Meta{Kind: "Provider", Name: "p"}, Type: "bedrock", AWS: &resource.AWSSettings{Region: "eu-1"}}
	raw, err := withNulls(p, []string{"apiKey", "aws.secretAccessKey", "google.none"})
	want := `{"apiKey":null,"aws":{"region":"eu-1","secretAccessKey":null},"kind":"Provider","name":"p","type":"bedrock"}`
	if err != nil || string(raw) != want {
		t.Errorf("got %s, %v", raw, err)
	}
	docs, _ := config.ReadDocuments("a.yaml", []byte("apiKey: null\nkind: Provider\nname: p\ntype: bedrock\naws:\n  secretAccessKey: ~\n"))
	if got := strings.Join(docs[0].Nulls, " "); got != "apiKey aws.secretAccessKey" {
		t.Errorf("removed are %s", got)
	}
}

// TestOP_9_master_keys: rekey takes keys as the server does and makes none.
func TestOP_9_master_keys(t *testing.T) {
	dir := t.TempDir()
	env := func(vars map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	}
	if _, err := masterBox(t.Context(), dir, env(nil)); err == nil || !strings.Contains(err.Error(), "INTERLOCK_MASTER_KEY") {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("it made %v, %v", entries, err)
	}
	old := "an-old-master-key-of-32-characters-or-more"
	if err := os.WriteFile(dir+"/master.key", []byte(old+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	alone, err := masterBox(t.Context(), dir, env(nil))
	if err != nil {
		t.Fatal(err)
	}
	both, err := masterBox(t.Context(), dir, env(map[string]string{"INTERLOCK_MASTER_KEY": "a-new-master-key-of-32-characters-or-more"}))
	if err != nil {
		t.Fatal(err)
	}
	sealed := alone.Seal(secret.New("value"), "x")
	if v, err := both.Open(sealed, "x"); err != nil || v.Reveal() != "value" || !both.Stale(sealed) {
		t.Error("the key of the data folder does not open, or still seals")
	}
}

func TestCL_help_has_colours_on_a_terminal(t *testing.T) {
	for _, colours := range []bool{true, false} {
		e, out, _ := fakeEnvironment("", nil)
		e.colours = colours
		root := newRoot(e)
		root.SetArgs([]string{"keys", "--help"})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\x1b[1mUsage:"); got != colours {
			t.Errorf("colours %v: %q", colours, out.String())
		}
	}
}

func TestReachable(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", "0.0.0.0:80": "http://127.0.0.1:80", "[::]:8080": "http://127.0.0.1:8080",
		"[::1]:8080": "http://[::1]:8080", "192.0.2.7:1": "http://192.0.2.7:1",
	} {
		if got := reachable(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestCL_demo_takes_another_port_if_one_is_taken needs no server: only the
// choice is looked at.
func TestCL_demo_takes_another_port_if_one_is_taken(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e, out, _ := fakeEnvironment("", nil)
	if got := e.freeAddress(t.Context(), lis.Addr().String()); got != "127.0.0.1:0" || !strings.Contains(out.String(), "is taken") {
		t.Errorf("%s, %q", got, out.String())
	}
	lis.Close()
	e, out, _ = fakeEnvironment("", nil)
	if got := e.freeAddress(t.Context(), lis.Addr().String()); got != lis.Addr().String() || out.Len() > 0 {
		t.Errorf("%s, %q", got, out.String())
	}
}
