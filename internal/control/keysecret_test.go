package control_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
)

const (
	named    = "ilk_named_in_a_document_0001"
	another  = "ilk_named_in_a_document_0002"
	declared = `{"kind":"Key","name":"ci","type":"service","secret":"env:CI_KEY"}`
)

// issue gives a key another secret, as a store of an earlier version may have it.
func (e *env) issue(id, secret string) {
	e.t.Helper()
	_, err := e.store.Update(e.t.Context(), e.now(), func(*store.State) (*store.Write, error) {
		return &store.Write{AddKeys: []store.KeySecret{{Hash: sha256.Sum256([]byte(secret)), KeyID: id, Last4: secret[len(secret)-4:], CreatedAt: e.now()}}}, nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.reload()
}

// TestRS_KEY_2_every_secret_ends: a rotation and a revocation end all that a key
// has, issued or named by its document, and it is shown as what it is.
func TestRS_KEY_2_every_secret_ends(t *testing.T) {
	start := func(t *testing.T) (*env, []string) {
		e := newEnv(t)
		e.setenv("CI_KEY", named)
		e.put(declared)
		all := []string{named, "ilk_issued_before_0000000001", "ilk_issued_before_0000000002"}
		e.issue(e.documents()["Key ci"].ID, all[1])
		e.issue(e.documents()["Key ci"].ID, all[2])
		return e, all
	}
	admits := func(e *env, all []string, want bool, when string) {
		e.t.Helper()
		for _, s := range all {
			if e.admits(s) != want {
				e.t.Errorf("%s %s works: %t", when, s, !want)
			}
		}
		if got := e.show("Key", "ci"); got["active"] != want {
			e.t.Errorf("%s it is shown as %v", when, got)
		}
	}
	t.Run("with an overlap", func(t *testing.T) {
		e, all := start(t)
		admits(e, all, true, "before")
		if got := e.show("Key", "ci")["endsAt"]; got != nil {
			t.Errorf("it is to end at %v", got)
		}
		e.rotate("ci", time.Hour)
		admits(e, all, true, "during the overlap")
		if got := e.show("Key", "ci")["endsAt"]; got != "2026-05-06T08:08:09.000000Z" {
			t.Errorf("it is to end at %v", got)
		}
		e.advance(time.Hour)
		admits(e, all, false, "after the overlap")
		e.reload()
		admits(e, all, false, "after a restart")
	})
	t.Run("at once, during an overlap", func(t *testing.T) {
		e, all := start(t)
		e.rotate("ci", time.Hour)
		e.rotate("ci", 0)
		admits(e, all, false, "after a second rotation")
	})
	t.Run("revoked", func(t *testing.T) {
		e, all := start(t)
		was := e.revision()
		if _, err := e.RevokeKey(t.Context(), "x", "ci", 0, false); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Restore(t.Context(), "x", was, false); err != nil {
			t.Fatal(err)
		}
		admits(e, all, false, "after a restore")
	})
	t.Run("with one that ended before", func(t *testing.T) {
		e, all := start(t)
		e.rotate("ci", 0)
		e.setenv("CI_KEY", another)
		e.put(declared)
		for _, s := range all {
			if e.admits(s) {
				t.Errorf("%s works again", s)
			}
		}
		if got := e.show("Key", "ci"); got["active"] != true || got["endsAt"] != nil || got["last4"] != nil {
			t.Errorf("with another secret it is shown as %v", got)
		}
		e.rotate("ci", 0)
		admits(e, append(all, another), false, "after a second rotation")
	})
}

// TestRS_KEY_2_the_document_takes_the_place: a document that gives a key a
// secret ends the issued one, and the plan says so.
func TestRS_KEY_2_the_document_takes_the_place(t *testing.T) {
	e := newEnv(t)
	e.setenv("CI_KEY", named)
	issued, _ := e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	want := `update Key "ci"` + "\n" + `  secret: "the issued secret …` + issued[len(issued)-4:] + `, which stops working" -> "env:CI_KEY"`
	dry, err := e.Apply(t.Context(), control.Batch{Owner: store.OwnerAPI, DryRun: true, Ops: []control.Op{put(t, declared)}})
	if err != nil || len(dry.Changes) != 1 || dry.Changes[0].String() != want || !e.admits(issued) {
		t.Fatalf("the dry run says %v, %v", dry, err)
	}
	if r := e.put(declared); len(r.Changes) != 1 || r.Changes[0].String() != want {
		t.Errorf("it says %v", r.Changes)
	}
	check := func(when string) {
		t.Helper()
		if e.admits(issued) || !e.admits(named) {
			t.Errorf("%s the issued one works: %t, the document's: %t", when, e.admits(issued), e.admits(named))
		}
	}
	check("afterwards")
	if got := e.show("Key", "ci"); got["active"] != true || got["endsAt"] != nil || got["version"] != 2.0 {
		t.Errorf("it is shown as %v", got)
	}
	if v, _, err := e.Version(t.Context(), 2); err != nil || !strings.Contains(v.Summary, `the document's secret of Key "ci" takes the issued one's place`) {
		t.Errorf("%+v, %v", v, err)
	}
	e.reload()
	check("after a restart")
	if r := e.put(declared); len(r.Changes) != 0 || e.revision() != 2 {
		t.Errorf("the second time it says %v", r.Changes)
	}
	// Without its secret the document gives nothing back.
	e.put(`{"kind":"Key","name":"ci","type":"service","secret":null}`)
	if e.admits(issued) || e.admits(named) || e.show("Key", "ci")["active"] != false {
		t.Error("a secret works that nothing names")
	}
	// A store that has both, from an earlier version, is put right by the next
	// write, which is one.
	e.put(declared)
	e.issue(e.documents()["Key ci"].ID, another)
	was := e.documents()["Key ci"].Version
	if r := e.put(declared); len(r.Changes) != 1 || e.admits(another) || !e.admits(named) || e.documents()["Key ci"].Version != was+1 {
		t.Errorf("%v", r.Changes)
	}
	// An issued secret is not the document's to name.
	e.setenv("CD_KEY", "ilk_issued_before_0000000001")
	_, cd := e.createKey(`{"kind":"Key","name":"cd","type":"service"}`)
	e.issue(cd.ID, "ilk_issued_before_0000000001")
	_, err = e.try(put(t, strings.NewReplacer("ci", "cd", "CI", "CD").Replace(declared)))
	refused(t, err, 400, "conflict", "it is the secret that was issued for the key; remove secret from the document to keep it, or put another secret behind env:CD_KEY")
	if !e.admits("ilk_issued_before_0000000001") {
		t.Error("a refused change ended it")
	}
}

// TestRS_KEY_2_a_files_secret: a file that takes a key over with a secret ends
// the issued one, since nobody could end it here any more. A file that leaves the
// secret to the store leaves its rotation, too.
func TestRS_KEY_2_a_files_secret(t *testing.T) {
	e := newEnv(t)
	e.setenv("CI_KEY", named)
	issued, _ := e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	kept, _ := e.createKey(`{"kind":"Key","name":"cd","type":"service"}`)
	enforce := func(raw ...string) {
		t.Helper()
		var docs []resource.Document
		for _, r := range raw {
			docs = append(docs, resource.Document{Object: key(t, r)})
		}
		if _, err := e.Enforce(t.Context(), "file:x", docs); err != nil {
			t.Fatal(err)
		}
	}
	enforce(declared, `{"kind":"Key","name":"cd","type":"service","labels":{"a":"b"}}`)
	if e.admits(issued) || !e.admits(named) || !e.admits(kept) {
		t.Errorf("issued %t, of the file %t, left alone %t", e.admits(issued), e.admits(named), e.admits(kept))
	}
	_, _, err := e.RotateKey(t.Context(), "x", "ci", 0, 0, false)
	refused(t, err, 409, "read_only", "has its secret in the configuration file", "change it there")
	next, made := e.rotate("cd", 0)
	if e.admits(kept) || !e.admits(next) || made.Owner != store.OwnerAPI || e.show("Key", "cd")["active"] != false || e.show("Key", "cd")["managedBy"] != "file" {
		t.Errorf("old %t, new %t, %v", e.admits(kept), e.admits(next), e.show("Key", "cd"))
	}
	was := e.revision()
	enforce(declared, `{"kind":"Key","name":"cd","type":"service","labels":{"a":"b"}}`)
	if e.revision() != was || e.admits(kept) {
		t.Error("the next start changed something")
	}
}

// TestRS_KEY_2_rotated_away: a document that still names a secret that was
// rotated away is told what happened to it.
func TestRS_KEY_2_rotated_away(t *testing.T) {
	for value, instead := range map[string]string{"env:CI_KEY": "put another secret behind env:CI_KEY", named: "write another secret"} {
		e := newEnv(t)
		e.setenv("CI_KEY", named)
		doc := strings.ReplaceAll(declared, "env:CI_KEY", value)
		e.put(doc)
		e.rotate("ci", time.Hour)
		for range 2 { // during the overlap, and after it
			_, err := e.try(put(t, doc))
			ce := refused(t, err, 400, "conflict", `Key "ci" secret: this secret was rotated away, with its end at 2026-05-06T08:08:09Z; `+instead+", or remove secret from the document")
			if strings.Contains(ce.Error(), "ilk_") {
				t.Errorf("it shows the secret: %v", ce)
			}
			e.advance(2 * time.Hour)
		}
		// Either works.
		e.put(strings.Replace(doc, `,"secret":"`+value+`"`, "", 1))
		e.setenv("CI_KEY", another)
		e.put(strings.ReplaceAll(doc, named, another))
		if !e.admits(another) || e.admits(named) {
			t.Error("the new secret does not work, or the old one does")
		}
	}
}

// TestRS_KEY_1_a_written_secret_is_hashed: of a secret that a document writes
// out nothing is kept that it could be read from.
func TestRS_KEY_1_a_written_secret_is_hashed(t *testing.T) {
	e := newEnv(t)
	doc := strings.ReplaceAll(declared, "env:CI_KEY", named)
	e.put(doc)
	e.reload()
	if got := e.show("Key", "ci"); !e.admits(named) || got["secret"] != nil || got["active"] != true || got["last4"] != "0001" {
		t.Errorf("it works: %t, and is shown as %v", e.admits(named), got)
	}
	docs, err := e.Export(t.Context())
	if err != nil || len(docs) != 1 || string(docs[0]) != `{"kind":"Key","name":"ci","type":"service"}` {
		t.Errorf("the export is %s, %v", docs, err)
	}
	if r := e.put(doc); len(r.Changes) != 0 || e.revision() != 1 {
		t.Errorf("the same secret again is a change: %v", r.Changes)
	}
	if r := e.put(string(docs[0])); len(r.Changes) != 0 || !e.admits(named) {
		t.Errorf("the export is a change: %v", r.Changes)
	}
	r := e.put(strings.ReplaceAll(doc, named, another))
	if len(r.Changes) != 1 || r.Changes[0].String() != `update Key "ci"`+"\n"+`  secret: "***" -> "*** (changed)"` || e.admits(named) || !e.admits(another) {
		t.Errorf("another secret: %v", r.Changes)
	}
	// No other key may have it, and nobody may write the stored form.
	_, err = e.try(put(t, strings.NewReplacer("ci", "cd", "env:CI_KEY", another).Replace(declared)))
	refused(t, err, 400, "conflict", `the secret is the one of key "c`)
	spec := string(e.documents()["Key ci"].Spec)
	_, err = e.try(put(t, strings.Replace(spec, `"ci"`, `"cd"`, 1)))
	refused(t, err, 400, "secret", "mask")
	// What an earlier version sealed is hashed with the next write of the key.
	e.put(`{"kind":"Key","name":"old","type":"service"}`)
	_, err = e.store.Update(t.Context(), e.now(), func(s *store.State) (*store.Write, error) {
		for _, d := range s.Documents {
			if d.Name == "old" {
				d.Spec = bytes.Replace(d.Spec, []byte(`"type"`), []byte(`"secret":"`+e.opt.Box.Seal(secret.New(named), "Key/old/secret")+`","type"`), 1)
				return &store.Write{Put: []store.Document{d}}, nil
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	e.reload()
	if !e.admits(named) {
		t.Error("a sealed secret does not work")
	}
	e.put(`{"kind":"Key","name":"old","type":"service","labels":{"a":"b"}}`)
	if spec := string(e.documents()["Key old"].Spec); strings.Contains(spec, "sealed:v1") || !strings.Contains(spec, "hashed:sha256:") || !e.admits(named) {
		t.Errorf("stored is %s", spec)
	}
}

// TestRS_KEY_1_nothing_to_open: no file of the store has a secret of a key in a
// form that the master key opens.
func TestRS_KEY_1_nothing_to_open(t *testing.T) {
	e := newEnv(t)
	e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	e.put(strings.ReplaceAll(strings.ReplaceAll(declared, "env:CI_KEY", named), "ci", "lit"))
	e.put(strings.ReplaceAll(strings.ReplaceAll(declared, "env:CI_KEY", another), "ci", "lit"))
	e.rotate("lit", 0)
	files, err := filepath.Glob(filepath.Join(e.dir, "*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || bytes.Contains(b, []byte("sealed:v1")) || bytes.Contains(b, []byte("ilk_")) {
			t.Errorf("%s holds a secret, or can't be read: %v", f, err)
		}
	}
}

// TestRS_KEY_2_at_its_end: a key that has expired or ended is not rotated: its
// successor would be closed as well, or open what was closed.
func TestRS_KEY_2_at_its_end(t *testing.T) {
	e := newEnv(t)
	e.createKey(`{"kind":"Key","name":"old","type":"service","expiresAt":"2026-05-06T08:00:00Z"}`)
	e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	e.rotate("ci", time.Hour)
	e.rotate("ci", time.Hour) // it works still
	e.advance(2 * time.Hour)
	was := e.revision()
	for name, want := range map[string]string{
		"old": `Key "old" expired on 2026-05-06, and its successor would have, too; set a later expiresAt or remove it, then rotate, or make a new key`,
		"ci":  `Key "ci" was replaced and ended on 2026-05-06; rotate its successor "ci-r2", or make a new key`,
	} {
		for _, dryRun := range []bool{true, false} {
			_, _, err := e.RotateKey(t.Context(), "x", name, 0, 0, dryRun)
			if ce := refused(t, err, 409, "ended"); ce.Detail != want {
				t.Errorf("%s: %s", name, ce.Detail)
			}
		}
	}
	if e.revision() != was {
		t.Error("something was written")
	}
	e.put(`{"kind":"Key","name":"old","type":"service","expiresAt":"2026-06-06T08:00:00Z"}`)
	if next, _ := e.rotate("old", 0); !e.admits(next) {
		t.Error("with a later expiresAt the successor does not work")
	}
	// A key that never had a secret is given its first one.
	e.put(`{"kind":"Key","name":"declared","type":"service"}`)
	if next, _ := e.rotate("declared", 0); !e.admits(next) {
		t.Error("the first secret does not work")
	}
}

// TestBY_13_a_key_without_its_secret: a key whose secret can't be read is not
// shown as active, and can be switched off.
func TestBY_13_a_key_without_its_secret(t *testing.T) {
	e := newEnv(t)
	e.setenv("CI_KEY", named)
	e.setenv("HELD", "sk-behind-a-reference-0001")
	e.put(provider("a"), declared, `{"kind":"Key","name":"v","type":"virtual","providerCredential":{"provider":"a","apiKey":"env:HELD"}}`)
	e.setenv("CI_KEY", "")
	e.setenv("HELD", "")
	e.reload()
	if got := e.show("Key", "ci"); got["active"] != false || !strings.Contains(text(got["warnings"]), "CI_KEY") {
		t.Errorf("it is shown as %v", got)
	}
	_, err := e.try(put(t, `{"kind":"Key","name":"ci","type":"service","labels":{"a":"b"}}`))
	refused(t, err, 400, "secret", "CI_KEY")
	e.put(`{"kind":"Key","name":"ci","type":"service","enabled":false}`, `{"kind":"Key","name":"v","type":"virtual","enabled":false,"providerCredential":{"provider":"a"}}`)
	_, err = e.try(put(t, `{"kind":"Key","name":"ci","type":"service"}`))
	refused(t, err, 400, "secret", "CI_KEY")
	_, err = e.try(put(t, `{"kind":"Key","name":"v","type":"virtual","providerCredential":{"provider":"a"}}`))
	refused(t, err, 400, "secret", "HELD")
}
