package control_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got; run with -update after a deliberate change):\n%s", name, d)
	}
}

// TestRS_VER_diffs: what each version changed, field by field, in words and
// as the API gives it.
func TestRS_VER_diffs(t *testing.T) {
	e := newEnv(t)
	e.setenv("KEY", "sk-from-the-environment-1234")
	e.put(provider("a", `"apiKey":"sk-first-literal-0001"`, `"modelAliases":{"fast":"gpt-5-mini","gpt-4.1":"gpt-5"}`), provider("b"))
	e.put(`{"kind":"Route","name":"r","modelPatterns":["gpt-*","o3"],"members":[{"provider":"a"},{"provider":"b","fallbackOnly":true}]}`)
	e.put(`{"kind":"Route","name":"r","modelPatterns":["gpt-*"],"members":[{"provider":"b"},{"provider":"a"}],"description":"both <kept> & \"quoted\"","enabled":false}`)
	e.put(provider("a", `"apiKey":"sk-second-literal-0002"`, `"modelAliases":{"fast":"gpt-5-nano"}`))
	e.put(provider("a", `"apiKey":"env:KEY"`))
	e.put(provider("a", `"apiKey":null`), `{"kind":"Settings","name":"settings","unknownModelStatus":404}`)
	e.createKey(`{"kind":"Key","name":"ci","type":"service","labels":{"a":"b"}}`)
	e.apply(put(t, provider("c")), put(t, provider("d")), put(t, provider("e")), remove("Route", "r"), remove("Settings", "settings"), remove("Provider", "b"))
	e.rotate("ci", 0)
	var b bytes.Buffer
	for n := int64(1); n <= e.revision(); n++ {
		v, objects, err := e.Version(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "# version %d: %s (%d objects)\n", n, v.Summary, len(objects))
		for _, d := range v.Diffs {
			fmt.Fprintln(&b, d)
		}
		asJSON, err := json.Marshal(v.Diffs)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n\n", asJSON)
	}
	diffs, err := e.Compare(t.Context(), 7, 3)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, "# from 7 back to 3")
	for _, d := range diffs {
		fmt.Fprintln(&b, d)
	}
	golden(t, "diffs.txt", b.Bytes())
	for _, pair := range [][2]int64{{1, 99}, {99, 1}, {-1, 1}} {
		if _, err := e.Compare(t.Context(), pair[0], pair[1]); err != nil {
			refused(t, err, 404, "not_found")
		} else {
			t.Errorf("versions %v can be compared", pair)
		}
	}
	_, _, err = e.Version(t.Context(), 99)
	refused(t, err, 404, "not_found", "99")
}

// TestRS_VER_summary: one line, however much changed.
func TestRS_VER_summary(t *testing.T) {
	for n, want := range map[int]string{
		0: "no change",
		1: `create Provider "p0"`,
		3: `create Provider "p0", update Provider "p1", delete Provider "p2"`,
		4: `create Provider "p0", update Provider "p1", delete Provider "p2", create Provider "p3"`,
		5: `create Provider "p0", update Provider "p1", delete Provider "p2" and 2 more`,
		9: `create Provider "p0", update Provider "p1", delete Provider "p2" and 6 more`,
	} {
		changes := make([]store.Change, n)
		for i := range changes {
			changes[i] = store.Change{Kind: "Provider", Name: fmt.Sprintf("p%d", i), Before: []byte(`{}`), After: []byte(`{}`)}
			switch i % 3 {
			case 0:
				changes[i].Before = nil
			case 2:
				changes[i].After = nil
			}
		}
		if got := control.Summary(changes); got != want {
			t.Errorf("%d changes: %s", n, got)
		}
	}
}

// TestRS_VER_restore: a new version that is like an old one.
func TestRS_VER_restore(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a", `"apiKey":"`+planted+`"`), provider("b"), route("r", "m-*", "a"))
	secret, _ := e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	then := e.revision()
	e.apply(put(t, provider("a", `"apiKey":"sk-another-secret-0815"`)), put(t, route("r", "n-*", "a")), remove("Provider", "b"), put(t, provider("c")))
	dry, err := e.Restore(t.Context(), "x", then, true)
	if err != nil || len(dry.Changes) != 4 || e.revision() != then+1 {
		t.Fatalf("a dry run: %+v, %v", dry, err)
	}
	r, err := e.Restore(t.Context(), "token:test", then, false)
	if err != nil || r.Revision != then+2 || len(r.Changes) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	e.inStep()
	if got := e.names(); got != "Key ci, Provider a, Provider b, Route r" {
		t.Errorf("restored are %s", got)
	}
	if got := e.apiKey("a"); got != planted {
		t.Errorf("the secret is %q", got)
	}
	if !e.admits(secret) {
		t.Error("a key that was there all the time does not work")
	}
	if d, err := e.Compare(t.Context(), then, r.Revision); err != nil || len(d) != 0 {
		t.Errorf("it differs: %v %v", d, err)
	}
	// Again: nothing to do.
	if r, err := e.Restore(t.Context(), "x", then, false); err != nil || r.Revision != then+2 {
		t.Errorf("restored again: %+v, %v", r, err)
	}
	_, err = e.Restore(t.Context(), "x", 99, false)
	refused(t, err, 404, "not_found")
	_, err = e.Restore(t.Context(), "x", -1, false)
	refused(t, err, 404, "not_found")
}

// TestRS_VER_restore_is_checked: like any change, against what is there now.
func TestRS_VER_restore_is_checked(t *testing.T) {
	e := newEnv(t)
	e.setenv("KEY", "sk-from-the-environment-1234")
	e.put(provider("a", `"apiKey":"env:KEY"`))
	e.put(provider("a", `"apiKey":null`))
	e.setenv("KEY", "")
	_, err := e.Restore(t.Context(), "x", 1, false)
	refused(t, err, 400, "secret", `Provider "a" apiKey`)
	if e.revision() != 2 {
		t.Error("a refused restore made a version")
	}
}

// TestRS_VER_restore_leaves_what_a_file_owns: it is read-only here.
func TestRS_VER_restore_leaves_what_a_file_owns(t *testing.T) {
	e := newEnv(t)
	e.put(provider("mine"), provider("later"))
	_, err := e.Apply(t.Context(), control.Batch{Actor: "file:x", Owner: store.OwnerFile, TakeOver: true, Ops: []control.Op{put(t, provider("later", `"residency":"eu"`)), put(t, provider("new"))}})
	if err != nil {
		t.Fatal(err)
	}
	e.put(provider("mine", `"residency":"us"`))
	if _, err := e.Restore(t.Context(), "x", 1, false); err != nil {
		t.Fatal(err)
	}
	if got := e.names(); got != "Provider later, Provider mine, Provider new" {
		t.Errorf("restored are %s", got)
	}
	if e.show("Provider", "later")["residency"] != "eu" || e.show("Provider", "mine")["residency"] != "global" || e.show("Provider", "later")["managedBy"] != "file" {
		t.Errorf("%v, %v", e.show("Provider", "later"), e.show("Provider", "mine"))
	}
}

// TestRS_VER_export: a fixed order and form that reads back as it is.
func TestRS_VER_export(t *testing.T) {
	e := newEnv(t)
	e.setenv("KEY", "sk-from-the-environment-1234")
	e.put(route("r", "m-*", "a"), provider("b", `"apiKey":"env:KEY"`), provider("a", `"apiKey":"`+planted+`"`), `{"kind":"Settings","name":"settings"}`,
		`{"kind":"Model","name":"m-1"}`, `{"kind":"Team","name":"Blue"}`, `{"kind":"Department","name":"IT"}`, `{"kind":"User","name":"ann"}`)
	e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	docs, err := e.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "export.json", append(bytes.Join(asBytes(docs), []byte("\n")), '\n'))
	before := e.revision()
	for _, d := range docs {
		e.put(string(d))
	}
	if e.revision() != before {
		t.Error("what was exported is not what is there")
	}
	again, err := e.Export(t.Context())
	if err != nil || cmp.Diff(docs, again) != "" {
		t.Errorf("the export differs from the one before: %v", err)
	}
}

func asBytes(docs []json.RawMessage) [][]byte {
	out := make([][]byte, len(docs))
	for i := range docs {
		out[i] = docs[i]
	}
	return out
}

// TestRS_VER_compile_at: what an old version decided can be decided again,
// with secrets that are gone.
func TestRS_VER_compile_at(t *testing.T) {
	e := newEnv(t)
	e.setenv("KEY", "sk-from-the-environment-1234")
	e.put(provider("a", `"apiKey":"env:KEY"`), `{"kind":"Provider","name":"ant","type":"anthropic","apiKey":"sk-ant-literal-0001"}`, route("r", "m-*", "a"),
		`{"kind":"Key","name":"doc","type":"service","secret":"ilk_named_in_a_document_0001"}`)
	e.put(provider("b", `"apiKey":"env:KEY"`), route("r", "m-*", "b"))
	e.setenv("KEY", "")
	chat := &llm.Endpoint{ID: "chat_completions", Format: llm.OpenAIChat}
	for n, want := range map[int64]string{1: "a", 2: "b"} {
		live, err := e.CompileAt(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		p := routing.Decide(live.Routing, &routing.Input{Query: routing.Query{Endpoint: chat, Model: "m-1"}})
		if p.Refusal != nil || len(p.Candidates) == 0 || string(p.Candidates[0].Provider) != want || live.Revision != uint64(n) || p.Revision != uint64(n) {
			t.Errorf("version %d decides %+v", n, p)
		}
	}
	if _, err := e.CompileAt(t.Context(), 99); err == nil {
		t.Error("a version that is not there compiles")
	}
	if live := e.live.Current(); live.Revision != 2 {
		t.Errorf("version %d is in use", live.Revision)
	}
}

// TestOP_6_recompile: a secret behind a reference changed; the version is the
// same and its secret the new one.
func TestOP_6_recompile(t *testing.T) {
	e := newEnv(t)
	e.setenv("CI", "ilk_from_the_environment_0001")
	e.put(`{"kind":"Key","name":"ci","type":"service","secret":"env:CI"}`)
	e.setenv("CI", "ilk_from_the_environment_0002")
	if err := e.Recompile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e.admits("ilk_from_the_environment_0001") || !e.admits("ilk_from_the_environment_0002") {
		t.Error("the old secret is in use")
	}
	e.inStep()
	e.setenv("CI", "too short")
	if err := e.Recompile(t.Context()); err == nil || !strings.Contains(err.Error(), `Key "ci" secret`) || strings.Contains(err.Error(), "too short") {
		t.Errorf("a wrong secret: %v", err)
	}
	if !e.admits("ilk_from_the_environment_0002") || e.revision() != 1 {
		t.Error("a wrong secret replaced the last good one")
	}
}

// OP-4: a start serves everybody whose secrets can be used. A variable that
// holds nonsense, the secret of another key, or one that was rotated away,
// closes its own key only; and a key that can't be used can be switched off.
func TestOP_4_BY_13_a_bad_secret_closes_its_own_key(t *testing.T) {
	const good, issued = "ilk_from_the_environment_0001", "ilk_from_the_environment_0002"
	for name, value := range map[string]string{"nonsense": "changeme", "another_keys": good} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.setenv("CD", good)
			e.setenv("CI", issued)
			e.put(`{"kind":"Key","name":"cd","type":"service","secret":"env:CD"}`)
			e.put(`{"kind":"Key","name":"ci","type":"service","secret":"env:CI"}`)
			e.setenv("CI", value)
			e.restart()
			if err := e.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !e.admits(good) || e.admits(issued) {
				t.Error("the wrong key is closed")
			}
			e.put(`{"kind":"Key","name":"ci","type":"service","secret":"env:CI","enabled":false}`)
		})
	}
}

// What an earlier version took and this one refuses is said of what is stored,
// and refused where it is written: an upgrade serves what it served.
func TestRS_PROV_a_header_of_an_earlier_version_is_kept(t *testing.T) {
	p := &resource.Provider{
		Meta: resource.Meta{Kind: "Provider", Name: "p"}, Type: resource.TypeOpenAI, APIKey: "sk-x",
		Headers: map[string]string{"Helicone-Auth": "Bearer x"},
	}
	for _, stored := range []bool{true, false} {
		live, problems := compile([]resource.Document{{Object: p}}, snapshot.Deps{
			Resolve:  func(_ resource.Object, ref string) (secret.String, error) { return secret.New(ref), nil },
			Tolerate: func(resource.Object) bool { return stored },
		})
		if kept := len(problems) == 0 && len(live.Warnings) == 1; kept != stored {
			t.Errorf("stored %v: %v", stored, problems)
		}
	}
}
