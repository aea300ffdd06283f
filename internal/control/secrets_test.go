package control_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// planted is a secret that must not come out.
const planted = "sk-PLANTED-in-a-provider-4711"

// apiKey opens the stored key of a provider as requests do.
func (e *env) apiKey(name string) string {
	e.t.Helper()
	spec := struct{ APIKey string }{}
	if err := json.Unmarshal(e.documents()["Provider "+name].Spec, &spec); err != nil {
		e.t.Fatal(err)
	}
	if !resource.IsSealedSecret(spec.APIKey) {
		return spec.APIKey
	}
	v, err := e.opt.Box.Open(spec.APIKey, "Provider/"+name+"/apiKey")
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return v.Reveal()
}

// TestBY_17_secrets_are_write_only: left out it stays, null removes it, a
// mask is refused, and nothing gives it out.
func TestBY_17_secrets_are_write_only(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a", `"apiKey":"`+planted+`"`))
	if got := e.apiKey("a"); got != planted {
		t.Fatalf("stored is %q", got)
	}
	shown := e.show("Provider", "a")
	if shown["apiKey"] != nil || shown["hasApiKey"] != true || shown["apiKeyLast4"] != "4711" || shown["credentialMode"] != "org-key" {
		t.Errorf("shown is %v", shown)
	}
	e.put(provider("a", `"residency":"eu"`))
	if got := e.apiKey("a"); got != planted {
		t.Errorf("left out it became %q", got)
	}
	before := e.revision()
	for _, mask := range []string{"***", "*** (changed)", "***4711", "sealed:v1:abcd:AAAA", "••••••••", "*"} {
		_, err := e.try(put(t, provider("a", `"apiKey":"`+mask+`"`)))
		if err == nil {
			t.Errorf("%q was taken for a secret", mask)
			continue
		}
		if ce := refused(t, err, 400, code(err)); len(ce.Problems) == 0 || ce.Problems[0].Path != "apiKey" {
			t.Errorf("%q: %+v", mask, ce.Problems)
		}
	}
	// The same secret again is no change; another one is, and is masked.
	e.put(provider("a", `"residency":"eu"`, `"apiKey":"`+planted+`"`))
	if got := e.revision(); got != before {
		t.Errorf("the same secret again made version %d", got)
	}
	r := e.put(provider("a", `"residency":"eu"`, `"apiKey":"sk-another-secret-0815"`))
	if len(r.Changes) != 1 || len(r.Changes[0].Fields) != 1 {
		t.Fatalf("changes: %v", r.Changes)
	}
	if f := r.Changes[0].Fields[0]; f.Path != "apiKey" || text(f.Before) != "***" || text(f.After) != "*** (changed)" {
		t.Errorf("the diff is %v", f)
	}
	e.put(provider("a", `"residency":"eu"`, `"apiKey":null`))
	if got := e.apiKey("a"); got != "" {
		t.Errorf("null left %q", got)
	}
	e.put(provider("a"))
	if shown := e.show("Provider", "a"); shown["hasApiKey"] != false || shown["credentialMode"] != "passthrough" {
		t.Errorf("a removed secret came back: %v", shown)
	}
	// References stay as they are.
	e.setenv("KEY", "sk-from-the-environment-1234")
	e.put(provider("a", `"apiKey":"env:KEY"`))
	if shown := e.show("Provider", "a"); shown["apiKey"] != "env:KEY" || shown["apiKeyLast4"] != "1234" {
		t.Errorf("a reference is shown as %v", shown)
	}
}

func code(err error) string {
	if ce, ok := err.(*control.Error); ok { //nolint:errorlint // as it is returned
		return ce.Code
	}
	return ""
}

// TestBY_17_get_and_put_back: what GET answers can be sent back and changes
// nothing.
func TestBY_17_get_and_put_back(t *testing.T) {
	e := newEnv(t)
	e.setenv("CI_KEY", "ilk_from_the_environment_5678")
	e.put(provider("a", `"apiKey":"`+planted+`"`), route("r", "m-*", "a"), `{"kind":"Settings","name":"settings","unknownModelStatus":404}`,
		`{"kind":"Key","name":"ci","type":"service","secret":"env:CI_KEY","labels":{"a":"b"}}`, `{"kind":"Team","name":"Blue"}`)
	before := e.revision()
	for id := range e.documents() {
		kind, name, _ := strings.Cut(id, " ")
		b, err := json.Marshal(e.show(kind, name))
		if err != nil {
			t.Fatal(err)
		}
		e.put(string(b))
	}
	if got := e.revision(); got != before {
		v, _, err := e.Version(t.Context(), got)
		t.Errorf("version %d came of it: %+v, %v", got, v, err)
	}
	if e.apiKey("a") != planted || !e.admits("ilk_from_the_environment_5678") {
		t.Error("a secret is gone")
	}
}

// TestOP_9_sealed_for_one_place: a sealed secret that is copied to another
// object in the database can't be opened there.
func TestOP_9_sealed_for_one_place(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a", `"apiKey":"`+planted+`"`), provider("b"))
	if bytes.Contains(e.documents()["Provider a"].Spec, []byte("PLANTED")) {
		t.Fatalf("stored is %s", e.documents()["Provider a"].Spec)
	}
	var spec struct{ APIKey string }
	if err := json.Unmarshal(e.documents()["Provider a"].Spec, &spec); err != nil {
		t.Fatal(err)
	}
	_, err := e.store.Update(t.Context(), time.Now(), func(s *store.State) (*store.Write, error) {
		d := s.Documents[1]
		d.Spec = []byte(strings.Replace(string(d.Spec), `"type"`, `"apiKey":"`+spec.APIKey+`","type"`, 1))
		return &store.Write{Put: []store.Document{d}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if shown := e.show("Provider", "b"); shown["apiKeyLast4"] != nil || shown["apiKey"] != nil {
		t.Errorf("shown is %v", shown)
	}
	// The others go on; this provider is not dialled.
	if err := e.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	live := e.live.Current()
	if w := live.Warnings.Error(); !strings.Contains(w, `Provider "b" apiKey`) || strings.Contains(w, "sealed:") {
		t.Errorf("warnings: %s", w)
	}
	for _, p := range live.Routing.Providers() {
		if p.NoKey != (p.ID == "b") {
			t.Errorf("provider %s: no key %t", p.ID, p.NoKey)
		}
	}
}

// TestOP_9_planted_secrets: after everything that can be done with secrets,
// none is in any file, error, diff, answer or log.
func TestOP_9_planted_secrets(t *testing.T) {
	e := newEnv(t)
	spool, err := audit.OpenSpool(audit.SpoolOptions{Dir: filepath.Join(e.dir, "spool")})
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	e.opt.Audit = func(x control.Entry) error {
		changes, err := json.Marshal(x.Changes)
		if err != nil {
			return err
		}
		return spool.Append(&audit.Record{Kind: audit.KindAdmin, Time: e.now(), Admin: &audit.AdminChange{Actor: x.Actor, Summary: x.Summary, Revision: x.Revision, Changes: changes}})
	}
	e.restart()
	if err := e.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var secrets []string
	plant := func(s string) string { secrets = append(secrets, s); return s }
	var said bytes.Buffer
	say := func(v any, err error) {
		if err != nil {
			said.WriteString(err.Error() + "\n")
			if ce, ok := err.(*control.Error); ok { //nolint:errorlint // as it is returned
				v = ce
			}
		}
		if b, err := json.Marshal(v); err == nil {
			said.Write(append(b, '\n'))
		}
	}
	ctx := t.Context()
	e.setenv("REF", plant("sk-PLANTED-behind-a-reference-77"))
	e.setenv("CI", plant("ilk_PLANTED_behind_a_reference_88"))
	say(e.try(put(t, provider("a", `"apiKey":"`+plant("sk-PLANTED-one-1111")+`"`))))
	say(e.try(put(t, provider("a", `"apiKey":"`+plant("sk-PLANTED-two-2222")+`"`))))
	say(e.try(put(t, provider("b", `"apiKey":"env:REF"`)), put(t, `{"kind":"Key","name":"doc","type":"service","secret":"env:CI"}`)))
	say(e.try(put(t, `{"kind":"Key","name":"lit","type":"service","secret":"`+plant("ilk_PLANTED_in_a_document_99")+`"}`)))
	// Refused: a bad anthropic key, a key secret of the wrong form, one that is
	// taken, white space, a missing reference beside a secret.
	say(e.try(put(t, `{"kind":"Provider","name":"c","type":"anthropic","apiKey":"`+plant("PLANTED-no-ant-key-3333")+`"}`)))
	say(e.try(put(t, `{"kind":"Key","name":"bad","type":"service","secret":"`+plant("PLANTED-wrong-form-4444")+`"}`)))
	say(e.try(put(t, `{"kind":"Key","name":"same","type":"service","secret":"ilk_PLANTED_in_a_document_99"}`)))
	say(e.try(put(t, provider("d", `"apiKey":"`+plant("sk-PLANTED with spaces 5555")+`"`))))
	say(e.try(put(t, provider("d", `"apiKey":"`+plant("sk-PLANTED-beside-6666")+`"`)), put(t, route("r", "m", "nobody"))))
	for _, raw := range []string{
		`{"kind":"Provider","name":"d","type":"openai","apikey":"` + plant("sk-PLANTED-wrong-case-7777") + `"}`,
		`{"kind":"Provider","name":"d","type":"openai","apiKey":["` + plant("sk-PLANTED-in-a-list-8888") + `"]}`,
		`{"kind":"Provider","name":"d","type":"openai","apiKey":"` + plant("sk-PLANTED-half-9999"),
		`{"kind":"Provider","name":"d","` + plant("sk-PLANTED-as-a-field-1212") + `":1}`,
	} {
		k, _ := resource.FindKind("Provider")
		_, _, problems := control.Decode(k, "", []byte(raw))
		if len(problems) == 0 {
			t.Errorf("taken: %s", raw)
		}
		if !strings.Contains(raw, "as-a-field") { // the name of a field is no secret, and is told
			say(problems, nil)
		}
	}
	secrets = secrets[:len(secrets)-1]
	k, _ := must(object(t, `{"kind":"Key","name":"ci","type":"service"}`)).(*resource.Key)
	made, r, err := e.CreateKey(ctx, "x", k, false)
	say(r, err)
	secrets = append(secrets, made.Secret.Reveal())
	say(made, err)
	for _, name := range []string{"ci", "lit", "doc"} {
		made, r, err := e.RotateKey(ctx, "x", name, time.Hour, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		say(r, nil)
		say(made, nil)
		secrets = append(secrets, made.Secret.Reveal())
	}
	say(e.RevokeKey(ctx, "x", "ci-r2", 0, false))
	say(e.RevokeKey(ctx, "x", "lit", 0, false))
	for _, kind := range []string{"Provider", "Key"} {
		list, err := e.List(ctx, kind)
		say(list, err)
		for _, o := range list {
			say(o.JSON())
		}
	}
	say(e.Export(ctx))
	for n := range e.revision() + 1 {
		v, objects, err := e.Version(ctx, n)
		say(v, err)
		say(objects, nil)
		say(e.Compare(ctx, 0, n))
		say(e.Restore(ctx, "x", n, n != 1))
	}
	say(e.audited(), nil)
	said.WriteString(e.log.String())

	files := 0
	err = filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files++
		said.WriteString("\n" + path + "\n")
		said.Write(b)
		return err
	})
	if err != nil || files < 5 {
		t.Fatalf("%d files: %v", files, err)
	}
	for _, s := range secrets {
		if at := bytes.Index(said.Bytes(), []byte(s)); at >= 0 {
			t.Errorf("%q is out: …%.200q", s, said.Bytes()[max(0, at-120):])
		}
		if len(s) < 16 {
			t.Errorf("%q is too short to look for", s)
		}
	}
	if bytes.Contains(said.Bytes(), []byte("PLANTED")) && !bytes.Contains(said.Bytes(), []byte("PLANTED-as-a-field")) {
		at := bytes.Index(said.Bytes(), []byte("PLANTED"))
		t.Errorf("a part of a secret is out: …%.200q", said.Bytes()[max(0, at-120):])
	}
	if !bytes.Contains(said.Bytes(), []byte("sealed:v1:")) || !bytes.Contains(said.Bytes(), []byte(`***`)) {
		t.Error("this looked at the wrong things: there is neither a sealed secret nor a mask")
	}
	t.Logf("looked for %d secrets in %d files and %d bytes", len(secrets), files, said.Len())
}
