package control_test

import (
	"bytes"
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

// TestRS_VER_every_change_is_a_version: who, when, what; a change that
// changes nothing is none, and what is in use is what is stored.
func TestRS_VER_every_change_is_a_version(t *testing.T) {
	e := newEnv(t)
	if r := e.put(provider("a")); r.Revision != 1 || len(r.Objects) != 1 || r.Objects[0].Version != 1 {
		t.Errorf("create: %+v", r)
	}
	e.inStep()
	e.advance(60e9)
	if r := e.put(provider("a", `"residency":"eu"`)); r.Revision != 2 || r.Objects[0].Version != 2 {
		t.Errorf("replace: %+v", r)
	}
	e.inStep()
	e.advance(60e9)
	if r := e.put(provider("a", `"residency":"eu"`)); r.Revision != 2 || len(r.Changes) != 0 || r.Objects[0].Version != 2 {
		t.Errorf("the same again: %+v", r)
	}
	e.inStep()
	if r := e.apply(); r.Revision != 2 {
		t.Errorf("no steps: %+v", r)
	}
	e.inStep()
	if r := e.apply(remove("Provider", "a")); r.Revision != 3 || len(r.Objects) != 0 {
		t.Errorf("delete: %+v", r)
	}
	e.inStep()
	list, err := e.Versions(t.Context(), 0, 10)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d versions: %v", len(list), err)
	}
	for i, want := range []string{`delete Provider "a"`, `update Provider "a"`, `create Provider "a"`} {
		if v := list[i]; v.Summary != want || v.Actor != "token:test" || v.Number != int64(3-i) || v.At.IsZero() {
			t.Errorf("version %d: %+v", 3-i, v)
		}
	}
	if n := len(e.audited()); n != 3 {
		t.Errorf("%d records for 3 versions", n)
	}
	for i, x := range e.audited() {
		if x.Revision != int64(i+1) || x.Actor != "token:test" || len(x.Changes) != 1 {
			t.Errorf("record %d: %+v", i, x)
		}
	}
}

// TestRS_VER_create_replace_and_stale: the conditions of a write.
func TestRS_VER_create_replace_and_stale(t *testing.T) {
	e := newEnv(t)
	cond := func(raw string, f func(*control.Op)) error {
		op := put(t, raw)
		f(&op)
		_, err := e.try(op)
		return err
	}
	refused(t, cond(provider("a"), func(op *control.Op) { op.Replace = true }), 404, "not_found", `"a"`)
	refused(t, cond(provider("a"), func(op *control.Op) { op.IfVersion = 1 }), 412, "stale", `"a"`)
	if err := cond(provider("a"), func(op *control.Op) { op.Create = true }); err != nil {
		t.Fatal(err)
	}
	refused(t, cond(provider("a"), func(op *control.Op) { op.Create = true }), 409, "name_taken", `"a"`)
	if err := cond(provider("a", `"residency":"eu"`), func(op *control.Op) { op.Replace, op.IfVersion = true, 1 }); err != nil {
		t.Fatal(err)
	}
	refused(t, cond(provider("a"), func(op *control.Op) { op.IfVersion = 1 }), 412, "stale", "version 2", "not 1")
	if err := cond(provider("a"), func(*control.Op) {}); err != nil {
		t.Errorf("without a condition: %v", err)
	}
	gone := remove("Provider", "a")
	gone.IfVersion = 2
	_, err := e.try(gone)
	refused(t, err, 412, "stale")
	_, err = e.try(remove("Provider", "b"))
	refused(t, err, 404, "not_found", `Provider "b"`)
	if got := e.revision(); got != 3 {
		t.Errorf("refused changes made versions: %d", got)
	}
	e.inStep()
}

// TestRS_VER_a_dry_run_writes_nothing: not in the store, not in use, not in
// the audit; and it says what would be.
func TestRS_VER_a_dry_run_writes_nothing(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a"), route("r", "m-*", "a"))
	before, published := e.state(), len(e.published)
	dry := func(ops ...control.Op) (*control.Result, error) {
		return e.Apply(t.Context(), control.Batch{Actor: "x", Owner: store.OwnerAPI, DryRun: true, Ops: ops})
	}
	r, err := dry(put(t, provider("b")), put(t, route("r", "n-*", "b")), remove("Provider", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Revision != 2 || len(r.Changes) != 3 || len(r.Objects) != 2 || r.Objects[1].Version != 2 {
		t.Errorf("it would be %+v", r)
	}
	if r, err := dry(put(t, provider("a"))); err != nil || r.Revision != 1 || len(r.Changes) != 0 {
		t.Errorf("no change would be %+v, %v", r, err)
	}
	_, err = dry(remove("Provider", "a"))
	refused(t, err, 409, "in_use")
	k, ok := must(object(t, `{"kind":"Key","name":"ci","type":"service"}`)).(*resource.Key)
	if !ok {
		t.Fatal("no key")
	}
	made, _, err := e.CreateKey(t.Context(), "x", k, true)
	if err != nil || made.Secret.IsZero() {
		t.Fatal(err)
	}
	if e.admits(made.Secret.Reveal()) {
		t.Error("the key of a dry run works")
	}
	after := e.state()
	if after.Revision != before.Revision || len(after.Documents) != len(before.Documents) || len(after.Keys) != 0 {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	if len(e.published) != published || len(e.audited()) != 1 {
		t.Errorf("published %v, recorded %d", e.published, len(e.audited()))
	}
}

func must[T, U any](v T, _ U) T { return v }

// TestRS_VER_a_change_is_all_or_nothing: one refused step refuses all of
// them, and all problems of all objects are told.
func TestRS_VER_a_change_is_all_or_nothing(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a"), route("r", "m-*", "a"))
	_, err := e.try(put(t, provider("b")), put(t, route("s", "n-*", "nobody")), put(t, provider("c", `"residency":"moon"`)))
	refused(t, err, 400, "missing_reference", `"nobody"`, `"moon"`)
	_, err = e.try(put(t, provider("b")), remove("Provider", "missing"))
	refused(t, err, 404, "not_found")
	_, err = e.try(put(t, provider("b")), put(t, provider("b", `"residency":"eu"`)))
	refused(t, err, 400, "invalid", "twice")
	_, err = e.try(put(t, provider("b")), remove("Provider", "b"))
	refused(t, err, 400, "invalid", "twice")
	_, err = e.try(put(t, `{"kind":"Team","name":"Blue"}`), put(t, `{"kind":"Team","name":"blue"}`))
	refused(t, err, 400, "invalid", "twice")
	if got := e.names(); got != "Provider a, Route r" || e.revision() != 1 {
		t.Errorf("stored are %s at %d", got, e.revision())
	}
	e.inStep()
	// What is only right together is taken together.
	e.apply(put(t, provider("b")), put(t, route("r", "m-*", "b")), remove("Provider", "a"))
	if got := e.names(); got != "Provider b, Route r" || e.revision() != 2 {
		t.Errorf("stored are %s at %d", got, e.revision())
	}
	// A name can pass from one kind to another, and begin anew.
	e.apply(remove("Provider", "b"), put(t, provider("b", `"residency":"eu"`)))
	if d := e.documents()["Provider b"]; d.Version != 1 {
		t.Errorf("an object that began anew has version %d", d.Version)
	}
	e.inStep()
}

// TestRS_PROV_3_one_name_space: a taken name is a conflict that names who has
// it.
func TestRS_PROV_3_one_name_space(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a"))
	_, err := e.try(put(t, route("a", "m-*", "a")))
	refused(t, err, 409, "name_taken", `Provider "a"`)
	e.put(`{"kind":"Team","name":"Platform"}`)
	_, err = e.try(put(t, `{"kind":"Team","name":"platform"}`))
	refused(t, err, 409, "name_taken", `Team "Platform"`)
}

// RS-PROV-4: a refusal with many users is short, fast, and names all of them
// apart from its text.
func TestRS_PROV_4_in_use_by_many(t *testing.T) {
	e := newEnv(t)
	const many = 2000
	docs := []string{provider("a"), provider("b")}
	for i := range many {
		docs = append(docs, route(fmt.Sprintf("r%04d", i), fmt.Sprintf("m-%d", i), "a", "b"))
	}
	e.put(docs...)
	began := time.Now()
	_, err := e.try(remove("Provider", "a"), remove("Provider", "b"))
	ce := refused(t, err, 409, "in_use", `Provider "a" is used by Route "r0000", Route "r0001"`, `Route "r0019" and 1980 more; Provider "b" is used by Route "r0000"`)
	if len(ce.Problems) != 2*many || len(ce.Detail) > 1000 {
		t.Errorf("%d problems, %d bytes", len(ce.Problems), len(ce.Detail))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestRS_PROV_4_in_use: deleting what others use is refused with every user
// of it, of each object that is to go.
func TestRS_PROV_4_in_use(t *testing.T) {
	e := newEnv(t)
	e.put(provider("a"), provider("b"), provider("c"), route("r1", "m1", "b", "a"), route("r2", "m2", "b"), route("r3", "m3", "c"),
		`{"kind":"Team","name":"Blue"}`, `{"kind":"User","name":"ann","team":"blue"}`)
	_, err := e.try(remove("Provider", "b"))
	ce := refused(t, err, 409, "in_use", `Provider "b" is used by Route "r1", Route "r2"`)
	if len(ce.Problems) != 2 || ce.Problems[0].Path != "members[0].provider" || ce.Problems[0].Refs[0].Name != "b" {
		t.Errorf("problems: %+v", ce.Problems)
	}
	_, err = e.try(put(t, provider("free")), remove("Route", "r3"), remove("Provider", "c"), remove("Provider", "a"), remove("Provider", "b"))
	refused(t, err, 409, "in_use", `Provider "a" is used by Route "r1"`, `Provider "b" is used by Route "r1", Route "r2"`)
	_, err = e.try(remove("Team", "Blue"))
	refused(t, err, 409, "in_use", `User "ann"`)
	if e.revision() != 1 {
		t.Error("a refused delete made a version")
	}
	e.apply(remove("Route", "r1"), remove("Route", "r2"), remove("Provider", "b"))
}

// TestBY_5_one_owner: what a file owns is read-only for the API, and the
// other way round, and the refusal says where to change it.
func TestBY_5_one_owner(t *testing.T) {
	e := newEnv(t)
	e.put(provider("mine"))
	file := func(takeOver bool, ops ...control.Op) error {
		for i := range ops {
			ops[i].Source = "interlock.yaml:12"
		}
		_, err := e.Apply(t.Context(), control.Batch{Actor: "file:interlock.yaml", Owner: store.OwnerFile, TakeOver: takeOver, Ops: ops})
		return err
	}
	if err := file(false, put(t, provider("theirs"))); err != nil {
		t.Fatal(err)
	}
	_, err := e.try(put(t, provider("theirs", `"residency":"eu"`)))
	refused(t, err, 409, "read_only", "interlock.yaml:12", `"theirs"`)
	_, err = e.try(remove("Provider", "theirs"))
	refused(t, err, 409, "read_only", "interlock.yaml:12")
	refused(t, file(false, put(t, provider("mine"))), 409, "read_only", "through the API")
	if got := e.show("Provider", "theirs"); got["managedBy"] != "file" || got["managedIn"] != "interlock.yaml:12" {
		t.Errorf("shown is %v", got)
	}
	if err := file(true, put(t, provider("mine"))); err != nil {
		t.Fatal(err)
	}
	if got := e.show("Provider", "mine"); got["managedBy"] != "file" || got["version"] != 2.0 {
		t.Errorf("taken over: %v", got)
	}
	// Who manages an object changed and nothing else: a version says so.
	v, _, err := e.Version(t.Context(), e.revision())
	if err != nil || v.Summary != "1 object is managed in the configuration file from now on" || len(v.Diffs) != 0 {
		t.Errorf("%+v: %v", v, err)
	}
	if x := e.audited()[len(e.audited())-1]; x.Revision != e.revision() || x.Summary != v.Summary {
		t.Errorf("recorded is %+v", x)
	}
	e.inStep()
}

// TestRS_VER_conflicts_in_parallel: 200 changes at once; each pair of them
// takes one name for a provider and for a route, or deletes a provider while
// a route begins to use it. One of two is refused and names the other's object,
// and what is left has no conflict.
func TestRS_VER_conflicts_in_parallel(t *testing.T) {
	e := newEnv(t)
	const pairs = 100
	base := []string{provider("base")}
	for i := range pairs / 2 {
		base = append(base, provider(fmt.Sprintf("used%d", i)))
	}
	e.put(base...)
	type saved struct {
		pair int
		left bool
		err  error
	}
	results := make(chan saved, 2*pairs)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range pairs {
		left, right := put(t, provider(fmt.Sprintf("name%d", i))), put(t, route(fmt.Sprintf("name%d", i), fmt.Sprintf("m%d", i), "base"))
		if i%2 == 1 {
			used := fmt.Sprintf("used%d", i/2)
			left, right = remove("Provider", used), put(t, route(fmt.Sprintf("route%d", i), fmt.Sprintf("m%d", i), used))
		}
		for side, op := range []control.Op{left, right} {
			all.Go(func() {
				<-start
				_, err := e.try(op)
				results <- saved{i, side == 0, err}
			})
		}
	}
	close(start)
	all.Wait()
	close(results)
	won := map[int]int{}
	for r := range results {
		if r.err == nil {
			won[r.pair]++
			continue
		}
		ce, ok := errors.AsType[*control.Error](r.err)
		if !ok || ce.Status != 409 && ce.Code != "missing_reference" {
			t.Fatalf("pair %d: %v", r.pair, r.err)
		}
		var other string
		switch {
		case r.pair%2 == 0 && r.left:
			other = fmt.Sprintf(`Route "name%d"`, r.pair)
		case r.pair%2 == 0:
			other = fmt.Sprintf(`Provider "name%d"`, r.pair)
		case r.left:
			other = fmt.Sprintf(`Route "route%d"`, r.pair)
		default:
			other = fmt.Sprintf(`"used%d"`, r.pair/2)
		}
		if !strings.Contains(ce.Error(), other) {
			t.Errorf("pair %d: %q does not name %s", r.pair, ce.Error(), other)
		}
	}
	for i := range pairs {
		if won[i] != 1 {
			t.Errorf("pair %d: %d of two changes were taken", i, won[i])
		}
	}
	if got := e.revision(); got != 1+pairs {
		t.Errorf("%d versions, want %d", got, 1+pairs)
	}
	e.inStep()
	// What is stored compiles: a start takes it.
	e.restart()
	if err := e.Load(t.Context()); err != nil || e.Degraded() != "" {
		t.Errorf("load: %v %s", err, e.Degraded())
	}
}

// TestRS_VER_1_published_in_order: whatever order changes end in, a newer
// version is never followed by an older one, and the newest is in use.
func TestRS_VER_1_published_in_order(t *testing.T) {
	e := newEnv(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for j := range 5 {
				if _, err := e.try(put(t, provider(fmt.Sprintf("p%d", i), fmt.Sprintf(`"staticModels":["m%d"]`, j)))); err != nil {
					t.Error(err)
				}
				if j == 2 {
					if err := e.Recompile(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	for i := 1; i < len(e.published); i++ {
		if e.published[i] < e.published[i-1] {
			t.Fatalf("version %d was published after %d", e.published[i], e.published[i-1])
		}
	}
	if e.revision() != 100 {
		t.Errorf("%d versions, want 100", e.revision())
	}
	e.inStep()
}

// TestRS_VER_apply_leaves_its_arguments: an object that was applied, or
// refused, can be applied again.
func TestRS_VER_apply_leaves_its_arguments(t *testing.T) {
	e := newEnv(t)
	op := put(t, provider("a", `"apiKey":"sk-planted-0123456789"`))
	for range 2 {
		e.apply(op)
	}
	p, ok := op.Put.(*resource.Provider)
	if !ok || p.APIKey != "sk-planted-0123456789" {
		t.Errorf("the object became %+v", p)
	}
	if e.revision() != 1 || bytes.Contains(e.documents()["Provider a"].Spec, []byte("planted")) {
		t.Errorf("version %d: %s", e.revision(), e.documents()["Provider a"].Spec)
	}
}
