package control_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/snapshot"
)

// TestBY_5_a_load_gives_what_is_in_use: after any sequence of changes what was
// compiled last is what a start compiles, in the same order.
func TestBY_5_a_load_gives_what_is_in_use(t *testing.T) {
	e := newEnv(t)
	var last []string
	e.opt.Compile = func(docs []resource.Document, d snapshot.Deps) (*snapshot.Live, resource.Problems) {
		last = last[:0]
		for _, doc := range docs {
			b, err := json.Marshal(doc.Object)
			if err != nil {
				t.Error(err)
			}
			last = append(last, doc.Object.Head().Kind+" "+doc.Object.Head().Name+" "+string(b))
		}
		for _, k := range d.Keys {
			last = append(last, fmt.Sprintf("%x %s %v", k.Hash, k.Key, k.Ends))
		}
		return compile(docs, d)
	}
	e.restart()
	rnd := rand.New(rand.NewPCG(2, 5))
	names := []string{"m-b", "z-*", "*-a", "Xx", "mm"}
	for range 60 {
		var ops []control.Op
		for _, n := range rnd.Perm(len(names))[:1+rnd.IntN(3)] {
			switch name := names[n]; rnd.IntN(4) {
			case 0:
				ops = append(ops, remove("Model", name))
			case 1:
				ops = append(ops, put(t, provider(strings.Trim(name, "*-"))))
			default:
				ops = append(ops, put(t, fmt.Sprintf(`{"kind":"Model","name":%q,"contextWindow":%d}`, name, 1+rnd.IntN(9))))
			}
		}
		before := e.revision()
		last = nil
		if _, err := e.try(ops...); err != nil || e.revision() == before {
			continue // a delete of what is not there, or nothing new
		}
		if rnd.IntN(4) == 0 {
			if _, _, err := e.CreateKey(t.Context(), "token:test", &resource.Key{Meta: resource.Meta{Kind: "Key", Name: fmt.Sprintf("k%d", e.revision())}, Type: "service"}, false); err != nil {
				t.Fatal(err)
			}
		}
		live := append([]string{}, last...)
		e.restart()
		if err := e.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(live, last); diff != "" {
			t.Fatalf("after %d versions a start compiles something else (-in use, +loaded):\n%s", e.revision(), diff)
		}
	}
}

// TestRS_MODEL_names_differ_in_more_than_case: requests match them in any case,
// so one of two would have no effect.
func TestRS_MODEL_names_differ_in_more_than_case(t *testing.T) {
	e := newEnv(t)
	e.put(`{"kind":"Model","name":"claude-q","contextWindow":10}`, `{"kind":"Model","name":"q-*","contextWindow":10}`)
	for _, name := range []string{"CLAUDE-Q", "Q-*"} {
		_, err := e.try(put(t, fmt.Sprintf(`{"kind":"Model","name":%q,"contextWindow":1000000}`, name)))
		ce := refused(t, err, 409, "name_taken", name, strings.ToLower(name), "case")
		if p := ce.Problems[0]; p.Path != "name" || p.Object.Name != name {
			t.Errorf("it is at %s of %s", p.Path, p.Object)
		}
	}
	// The other way round the change is one.
	e.apply(remove("Model", "claude-q"), put(t, `{"kind":"Model","name":"CLAUDE-Q","contextWindow":9}`))
	e.inStep()
}
