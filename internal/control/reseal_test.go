package control_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

var (
	oldMaster = []byte("the-old-master-key-of-32-characters-or-more")
	newMaster = []byte("the-new-master-key-of-32-characters-or-more")
)

// resealing is a store with secrets under the old master key.
type resealing struct {
	store    *sqlstore.Store
	snapshot string
	audit    []control.Entry
	refuse   error // of the audit
}

func newResealing(t *testing.T) *resealing {
	t.Helper()
	dir := t.TempDir()
	st, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite:" + filepath.Join(dir, "interlock.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return &resealing{store: st, snapshot: filepath.Join(dir, "snapshot.json")}
}

func (r *resealing) box(t *testing.T, masters ...[]byte) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(masters...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (r *resealing) control(t *testing.T, masters ...[]byte) *control.Control {
	t.Helper()
	return control.New(control.Options{
		Store: r.store, Box: r.box(t, masters...), SnapshotPath: r.snapshot, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Audit: func(e control.Entry) error { r.audit = append(r.audit, e); return r.refuse },
	})
}

// put stores providers with the secrets that they have under a master key; a
// reference is kept as it is.
func (r *resealing) put(t *testing.T, master []byte, secrets map[string]string) *store.State {
	t.Helper()
	box := r.box(t, master)
	s, err := r.store.Update(t.Context(), time.Now(), func(*store.State) (*store.Write, error) {
		w := &store.Write{Actor: "test"}
		for name, value := range secrets {
			if !strings.HasPrefix(value, "env:") {
				value = box.Seal(secret.New(value), "Provider/"+name+"/apiKey")
			}
			spec, err := json.Marshal(map[string]string{"kind": "Provider", "name": name, "type": "openai", "apiKey": value})
			if err != nil {
				return nil, err
			}
			w.Put = append(w.Put, store.Document{Kind: "Provider", Name: name, Owner: store.OwnerFile, Source: "x.yaml:1", Spec: spec})
		}
		return w, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// opened are the secrets of providers, as one box opens them.
func (r *resealing) opened(t *testing.T, docs []store.Document, master []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, d := range docs {
		var p struct {
			APIKey string `json:"apiKey"`
		}
		if err := json.Unmarshal(d.Spec, &p); err != nil {
			t.Fatal(err)
		}
		out[d.Name] = p.APIKey
		if secret.IsSealed(p.APIKey) {
			v, err := r.box(t, master).Open(p.APIKey, "Provider/"+d.Name+"/apiKey")
			if err != nil {
				t.Fatalf("%s: %v", d.Name, err)
			}
			out[d.Name] = v.Reveal()
		}
	}
	return out
}

func (r *resealing) load(t *testing.T) *store.State {
	t.Helper()
	s, err := r.store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOP_9_Reseal(t *testing.T) {
	r := newResealing(t)
	r.put(t, oldMaster, map[string]string{"a": "secret-of-a", "b": "secret-of-b", "ref": "env:X"})
	s := r.put(t, newMaster, map[string]string{"c": "secret-of-c"})
	r.keep(t, s)
	c := r.control(t, newMaster, oldMaster)

	dry, err := c.Reseal(t.Context(), "rekey", true)
	if err != nil || dry.Secrets != 3 || dry.Changed != 2 || dry.Revision != 2 || r.load(t).Revision != 2 || len(r.audit) > 0 {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	got, err := c.Reseal(t.Context(), "rekey", false)
	if err != nil || got.Secrets != 3 || got.Changed != 2 || got.Snapshot != 2 || got.Revision != 3 || got.KeyID != r.box(t, newMaster).KeyID() {
		t.Fatalf("%+v, %v", got, err)
	}
	now := r.load(t)
	want := map[string]string{"a": "secret-of-a", "b": "secret-of-b", "c": "secret-of-c", "ref": "env:X"}
	for name, v := range r.opened(t, now.Documents, newMaster) { // by the new key alone
		if v != want[name] {
			t.Errorf("%s is %q", name, v)
		}
	}
	for _, d := range now.Documents {
		if d.Owner != store.OwnerFile || d.Source != "x.yaml:1" || d.Name == "c" && d.Version != 1 || d.Name == "ref" && d.Version != 1 {
			t.Errorf("%+v", d)
		}
	}
	var kept store.State
	b, err := os.ReadFile(r.snapshot)
	if err != nil || json.Unmarshal(b, &kept) != nil {
		t.Fatal(err)
	}
	if got := r.opened(t, kept.Documents, newMaster); got["a"] != "secret-of-a" || got["c"] != "secret-of-c" {
		t.Errorf("snapshot: %v", got)
	}
	if len(r.audit) != 1 || r.audit[0].Actor != "rekey" || r.audit[0].Revision != 3 || !strings.Contains(r.audit[0].Summary, "seal 2 secrets") {
		t.Errorf("audit: %+v", r.audit)
	}

	again, err := r.control(t, newMaster).Reseal(t.Context(), "rekey", false)
	if err != nil || again.Changed != 0 || again.Snapshot != 0 || again.Revision != 3 || len(r.audit) != 1 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// keep writes the snapshot as a server does.
func (r *resealing) keep(t *testing.T, s *store.State) {
	t.Helper()
	b, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(r.snapshot, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOP_9_Reseal_all_or_nothing(t *testing.T) {
	r := newResealing(t)
	r.put(t, oldMaster, map[string]string{"a": "secret-of-a"})
	lost := []byte("a-lost-master-key-of-32-characters-or-more")
	r.put(t, lost, map[string]string{"b": "secret-of-b", "c": "secret-of-c"})
	_, err := r.control(t, newMaster, oldMaster).Reseal(t.Context(), "rekey", false)
	if !errors.Is(err, secret.ErrUnsealed) || !strings.Contains(err.Error(), `Provider "b" apiKey`) || !strings.Contains(err.Error(), `Provider "c" apiKey`) ||
		strings.Contains(err.Error(), `"a"`) || strings.Contains(err.Error(), "secret-of") {
		t.Errorf("got %v", err)
	}
	if s := r.load(t); s.Revision != 2 || len(r.audit) > 0 {
		t.Errorf("something was written: version %d", s.Revision)
	}
}

func TestOP_9_Reseal_reports_what_went_wrong_after_it(t *testing.T) {
	for name, prepare := range map[string]func(*resealing){
		"the audit":    func(r *resealing) { r.refuse = errors.New("disk full") },
		"the snapshot": func(r *resealing) { _ = os.WriteFile(r.snapshot, []byte("no JSON"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newResealing(t)
			r.put(t, oldMaster, map[string]string{"a": "secret-of-a"})
			prepare(r)
			got, err := r.control(t, newMaster, oldMaster).Reseal(t.Context(), "rekey", false)
			if err == nil || got == nil || got.Changed != 1 || r.load(t).Revision != 2 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestOP_9_Reseal_without_the_store(t *testing.T) {
	r := newResealing(t)
	_ = r.store.Close()
	_, err := r.control(t, newMaster).Reseal(t.Context(), "rekey", false)
	var ce *control.Error
	if !errors.As(err, &ce) || ce.Status != 503 {
		t.Errorf("got %v", err)
	}
}
