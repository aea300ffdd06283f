package control_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

func key(t *testing.T, raw string) *resource.Key {
	t.Helper()
	o, _ := object(t, raw)
	k, ok := o.(*resource.Key)
	if !ok {
		t.Fatalf("no key: %s", raw)
	}
	return k
}

func (e *env) createKey(raw string) (secret string, made *control.NewKey) {
	e.t.Helper()
	made, _, err := e.CreateKey(e.t.Context(), "token:test", key(e.t, raw), false)
	if err != nil {
		e.t.Fatal(err)
	}
	return made.Secret.Reveal(), made
}

func (e *env) rotate(name string, overlap time.Duration) (secret string, made *control.NewKey) {
	e.t.Helper()
	made, _, err := e.RotateKey(e.t.Context(), "token:test", name, overlap, 0, false)
	if err != nil {
		e.t.Fatal(err)
	}
	e.inStep()
	return made.Secret.Reveal(), made
}

// reload is what a restart of the process sees.
func (e *env) reload() {
	e.t.Helper()
	e.restart()
	if err := e.Load(e.t.Context()); err != nil || e.Degraded() != "" {
		e.t.Fatalf("load: %v %s", err, e.Degraded())
	}
}

// TestRS_KEY_1_only_a_hash_is_stored: the secret is in the answer of its
// making and nowhere else.
func TestRS_KEY_1_only_a_hash_is_stored(t *testing.T) {
	e := newEnv(t)
	secret, made := e.createKey(`{"kind":"Key","name":"ci","type":"service","labels":{"a":"b"}}`)
	if len(secret) < 40 || !strings.HasPrefix(secret, "ilk_") || made.ID == "" || made.Version != 1 {
		t.Errorf("made is %+v", made)
	}
	keys := e.state().Keys
	if len(keys) != 1 || keys[0].Hash != sha256.Sum256([]byte(secret)) || keys[0].KeyID != made.ID || keys[0].Last4 != secret[len(secret)-4:] {
		t.Errorf("stored is %+v", keys)
	}
	for _, name := range []string{"ci", made.ID} {
		got := e.show("Key", name)
		if got["active"] != true || got["last4"] != secret[len(secret)-4:] || got["secret"] != nil || got["id"] != made.ID {
			t.Errorf("shown is %v", got)
		}
	}
	if !e.admits(secret) {
		t.Error("it does not work")
	}
	e.reload()
	if !e.admits(secret) {
		t.Error("it does not work after a restart")
	}
	_, _, err := e.CreateKey(t.Context(), "x", key(t, `{"kind":"Key","name":"ci","type":"pat"}`), false)
	refused(t, err, 409, "name_taken", "ci")
	chosen := key(t, `{"kind":"Key","name":"mine","type":"pat"}`)
	chosen.Secret = "ilk_chosen_by_somebody_0001"
	_, _, err = e.CreateKey(t.Context(), "x", chosen, false)
	refused(t, err, 400, "invalid", "secret")
	// A PUT changes its rights, not its id, secret or lineage.
	e.put(`{"kind":"Key","name":"ci","type":"service"}`)
	if got := e.show("Key", "ci"); got["id"] != made.ID || got["labels"] != nil || !e.admits(secret) {
		t.Errorf("after a PUT: %v", got)
	}
	// Switched off it works no more, switched on again it does.
	e.put(`{"kind":"Key","name":"ci","type":"service","enabled":false}`)
	if e.admits(secret) || e.show("Key", "ci")["active"] != false {
		t.Error("a disabled key works")
	}
	e.put(`{"kind":"Key","name":"ci","type":"service"}`)
	if !e.admits(secret) {
		t.Error("an enabled key does not work")
	}
}

// TestRS_KEY_1_id_before_name: a key that is named like the id of another
// does not stand in front of it.
func TestRS_KEY_1_id_before_name(t *testing.T) {
	e := newEnv(t)
	_, ci := e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	e.createKey(`{"kind":"Key","name":"` + ci.ID + `","type":"pat"}`)
	if got := e.show("Key", ci.ID); got["name"] != "ci" {
		t.Errorf("id %s shows %v", ci.ID, got)
	}
	if _, err := e.RevokeKey(t.Context(), "x", ci.ID, 0, false); err != nil {
		t.Fatal(err)
	}
	if got := e.names(); got != "Key "+ci.ID {
		t.Errorf("left is %s", got)
	}
}

// TestRS_KEY_2_rotation: a successor with the same rights; the predecessor
// works until its overlap ends.
func TestRS_KEY_2_rotation(t *testing.T) {
	e := newEnv(t)
	old, first := e.createKey(`{"kind":"Key","name":"ci","type":"service","team":"","labels":{"a":"b"}}`)
	next, made := e.rotate("ci", -1)
	if h := made.Head(); h.Name != "ci-r2" || made.ID == first.ID {
		t.Errorf("the successor is %+v", made)
	}
	got := e.show("Key", "ci-r2")
	if got["rotatedFrom"] != "ci" || fmt.Sprint(got["labels"]) != "map[a:b]" || got["type"] != "service" {
		t.Errorf("the successor is %v", got)
	}
	if ends := e.show("Key", "ci")["endsAt"]; ends != "2026-05-07T07:08:09.000000Z" {
		t.Errorf("the predecessor ends at %v, want 24 hours from now", ends)
	}
	for _, at := range []struct {
		after time.Duration
		old   bool
	}{{0, true}, {24*time.Hour - time.Second, true}, {time.Second, false}, {time.Hour, false}} {
		e.advance(at.after)
		if e.admits(old) != at.old || !e.admits(next) || e.show("Key", "ci")["active"] != at.old {
			t.Errorf("at %v: old %v, new %v, shown active %v", e.now(), e.admits(old), e.admits(next), e.show("Key", "ci")["active"])
		}
	}
	e.reload()
	if e.admits(old) || !e.admits(next) {
		t.Error("a restart changed which secrets work")
	}
	// No overlap: at once. The lineage goes on, and a PUT does not cut it.
	third, made := e.rotate("ci-r2", 0)
	if e.admits(next) || !e.admits(third) || made.Head().Name != "ci-r3" {
		t.Errorf("without overlap: old %v, new %v, %s", e.admits(next), e.admits(third), made.Head().Name)
	}
	e.put(`{"kind":"Key","name":"ci-r3","type":"service"}`)
	if from := e.show("Key", "ci-r3")["rotatedFrom"]; from != "ci-r2" {
		t.Errorf("a PUT made the lineage %v", from)
	}
	_, _, err := e.RotateKey(t.Context(), "x", "nobody", 0, 0, false)
	refused(t, err, 404, "not_found", "nobody")
}

// TestRS_KEY_2_rotating_again_does_not_prolong: the predecessor ends when it
// was said.
func TestRS_KEY_2_rotating_again_does_not_prolong(t *testing.T) {
	e := newEnv(t)
	old, _ := e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	e.rotate("ci", time.Hour)
	e.advance(30 * time.Minute)
	e.rotate("ci", 48*time.Hour)
	e.advance(31 * time.Minute)
	if e.admits(old) {
		t.Error("it works longer than was said")
	}
	e.reload()
	if e.admits(old) {
		t.Error("it works longer than was said, after a restart")
	}
	// Sooner is possible.
	old, _ = e.createKey(`{"kind":"Key","name":"cd","type":"service"}`)
	e.rotate("cd", time.Hour)
	e.rotate("cd", time.Minute)
	e.advance(2 * time.Minute)
	if e.admits(old) {
		t.Error("it works longer than was said last")
	}
}

// TestRS_KEY_2_names_of_successors: the first free one, and within the length
// of names.
func TestRS_KEY_2_names_of_successors(t *testing.T) {
	e := newEnv(t)
	long := strings.Repeat("x", 63)
	for _, name := range []string{"ci", "ci-r3", "a-r10", long, "r2", "x-r2-y"} {
		e.createKey(`{"kind":"Key","name":"` + name + `","type":"service"}`)
	}
	for _, tc := range []struct{ name, want string }{
		{"ci", "ci-r2"}, {"ci", "ci-r4"}, {"ci-r4", "ci-r5"}, {"a-r10", "a-r2"}, {long, long[:60] + "-r2"}, {long, long[:60] + "-r3"}, {"r2", "r2-r2"}, {"x-r2-y", "x-r2-y-r2"},
	} {
		if _, made := e.rotate(tc.name, time.Hour); made.Head().Name != tc.want {
			t.Errorf("the successor of %s is %s, want %s", tc.name, made.Head().Name, tc.want)
		}
	}
	for i := 3; i < 12; i++ {
		if _, made := e.rotate("a-r10", time.Hour); made.Head().Name == "a-r10" {
			t.Error("a successor has its predecessor's name")
		}
	}
}

// TestRS_KEY_2_secret_in_the_document: a key whose document names its secret
// is rotated like any other: the named secret ends too.
func TestRS_KEY_2_secret_in_the_document(t *testing.T) {
	const old = "ilk_named_in_a_document_0001"
	for name, secret := range map[string]string{"a reference": "env:CI_KEY", "a literal": old} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.setenv("CI_KEY", old)
			e.put(`{"kind":"Key","name":"ci","type":"service","labels":{"a":"b"},"secret":"` + secret + `"}`)
			before := e.revision()
			next, _ := e.rotate("ci", time.Hour)
			if !e.admits(old) || !e.admits(next) {
				t.Fatal("a secret does not work during the overlap")
			}
			if got := e.show("Key", "ci-r2"); got["secret"] != nil || fmt.Sprint(got["labels"]) != "map[a:b]" {
				t.Errorf("the successor is %v", got)
			}
			e.reload()
			e.advance(61 * time.Minute)
			if e.admits(old) || !e.admits(next) || e.show("Key", "ci")["active"] != false {
				t.Error("the predecessor works after the overlap")
			}
			if _, err := e.Restore(t.Context(), "x", before, false); err != nil {
				t.Fatal(err)
			}
			if e.admits(old) || e.admits(next) {
				t.Error("a restore brought a replaced secret back, or left one that was not there")
			}
		})
	}
}

// TestRS_KEY_3_revoking: at once and for ever, also for a secret that is
// named in a document.
func TestRS_KEY_3_revoking(t *testing.T) {
	const old = "ilk_named_in_a_document_0001"
	e := newEnv(t)
	e.setenv("CI_KEY", old)
	issued, made := e.createKey(`{"kind":"Key","name":"one","type":"service"}`)
	e.put(`{"kind":"Key","name":"two","type":"service","secret":"env:CI_KEY"}`, `{"kind":"Key","name":"three","type":"service","secret":"ilk_a_literal_secret_00002"}`)
	before := e.revision()
	_, err := e.RevokeKey(t.Context(), "x", "one", 7, false)
	refused(t, err, 412, "stale")
	if !e.admits(issued) {
		t.Error("a refused revocation did something")
	}
	for _, name := range []string{made.ID, "two", "three"} {
		if _, err := e.RevokeKey(t.Context(), "x", name, 1, false); err != nil {
			t.Fatal(err)
		}
		e.inStep()
	}
	never := func(when string) {
		t.Helper()
		for _, s := range []string{issued, old, "ilk_a_literal_secret_00002"} {
			if e.admits(s) {
				t.Errorf("%s works %s", s, when)
			}
		}
	}
	never("after the revocation")
	e.reload()
	never("after a restart")
	if _, err := e.Restore(t.Context(), "x", before, false); err != nil {
		t.Fatal(err)
	}
	never("after a restore")
	for _, name := range []string{"one", "two", "three"} {
		if got := e.show("Key", name); got["active"] != false {
			t.Errorf("restored is %v", got)
		}
	}
	// Not even when a document names it again: it may have leaked.
	_, err = e.try(put(t, `{"kind":"Key","name":"four","type":"service","secret":"env:CI_KEY"}`))
	refused(t, err, 400, "secret", "revoked")
	// Nor does a rotation open again what was closed.
	_, _, err = e.RotateKey(t.Context(), "x", "two", 0, 0, false)
	refused(t, err, 409, "ended", `Key "two" was revoked; make a new key`)
	// A restored key can be given a new secret by its document.
	e.setenv("CI_KEY", "ilk_named_in_a_document_0003")
	e.put(`{"kind":"Key","name":"two","type":"service","secret":"env:CI_KEY"}`)
	if !e.admits("ilk_named_in_a_document_0003") || e.show("Key", "two")["active"] != true {
		t.Error("a restored key can't be given a new secret")
	}
	_, err = e.RevokeKey(t.Context(), "x", "nobody", 0, false)
	refused(t, err, 404, "not_found", "nobody")
}

// TestRS_KEY_3_secret_out_of_reach: a key can be revoked while its secret can't
// be read, and stays so when it can be again.
func TestRS_KEY_3_secret_out_of_reach(t *testing.T) {
	e := newEnv(t)
	e.setenv("ONE", "ilk_named_in_a_document_0001")
	e.setenv("TWO", "ilk_named_in_a_document_0002")
	e.put(`{"kind":"Key","name":"one","type":"service","secret":"env:ONE"}`, `{"kind":"Key","name":"two","type":"service","secret":"env:TWO"}`)
	e.setenv("ONE", "")
	e.setenv("TWO", "")
	for _, name := range []string{"one", "two"} {
		if _, err := e.RevokeKey(t.Context(), "x", name, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	e.setenv("ONE", "ilk_named_in_a_document_0001")
	e.setenv("TWO", "ilk_named_in_a_document_0002")
	if _, err := e.Restore(t.Context(), "x", 1, false); err != nil {
		t.Fatal(err)
	}
	if e.admits("ilk_named_in_a_document_0001") || e.admits("ilk_named_in_a_document_0002") {
		t.Error("a revoked secret works")
	}
}

// TestRS_KEY_3_of_the_file: keys that a file owns are changed there.
func TestRS_KEY_3_of_the_file(t *testing.T) {
	e := newEnv(t)
	e.setenv("CI_KEY", "ilk_named_in_a_document_0001")
	_, err := e.Apply(t.Context(), control.Batch{
		Actor: "file:x", Owner: store.OwnerFile,
		Ops: []control.Op{{Put: key(t, `{"kind":"Key","name":"ci","type":"service","secret":"env:CI_KEY"}`), Source: "x.yaml:3"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = e.RotateKey(t.Context(), "x", "ci", 0, 0, false)
	refused(t, err, 409, "read_only", "x.yaml:3")
	_, err = e.RevokeKey(t.Context(), "x", "ci", 0, false)
	refused(t, err, 409, "read_only", "x.yaml:3")
	if !e.admits("ilk_named_in_a_document_0001") {
		t.Error("the key does not work")
	}
}

// TestRS_KEY_1_expires: the earlier of its own end and its secret's counts.
func TestRS_KEY_1_expires(t *testing.T) {
	e := newEnv(t)
	secret, _ := e.createKey(`{"kind":"Key","name":"ci","type":"service","expiresAt":"2026-05-06T08:00:00Z"}`)
	e.rotate("ci", 48*time.Hour)
	if !e.admits(secret) {
		t.Error("it does not work before its end")
	}
	e.advance(time.Hour)
	if e.admits(secret) || e.show("Key", "ci")["active"] != false {
		t.Error("it works after its end, or is shown so")
	}
}

// TestRS_KEY_2_rotations_at_once: each makes a successor of its own or is
// refused; no two share a name.
func TestRS_KEY_2_rotations_at_once(t *testing.T) {
	e := newEnv(t)
	e.createKey(`{"kind":"Key","name":"ci","type":"service"}`)
	var all sync.WaitGroup
	var mu sync.Mutex
	made := map[string]string{}
	for range 8 {
		all.Go(func() {
			k, _, err := e.RotateKey(t.Context(), "x", "ci", time.Hour, 0, false)
			if err != nil {
				if ce, ok := errors.AsType[*control.Error](err); !ok || ce.Status != 409 && ce.Status != 412 {
					t.Errorf("rotate: %v", err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if made[k.Head().Name] != "" {
				t.Errorf("%s was made twice", k.Head().Name)
			}
			made[k.Head().Name] = k.Secret.Reveal()
		})
	}
	all.Wait()
	if len(made) == 0 {
		t.Fatal("all were refused")
	}
	for name, secret := range made {
		if !e.admits(secret) {
			t.Errorf("%s does not work", name)
		}
	}
	e.inStep()
}
