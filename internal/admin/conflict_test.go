package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// RT-PAT-1, RS-VER-1: 200 parallel saves that conflict in pairs leave no
// conflict, and each refusal names the object of the other half.
func TestRT_PAT_1_parallel_saves_leave_no_conflict(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	const pairs = 100
	refused := make([][2]bool, pairs)
	var wg sync.WaitGroup
	for i := range pairs {
		for half, name := range []string{fmt.Sprintf("a%03d", i), fmt.Sprintf("b%03d", i)} {
			wg.Go(func() {
				other := fmt.Sprintf("%c%03d", "ba"[half], i)
				a := e.admin("PUT", "/routes/"+name, routeBody("main", fmt.Sprintf("model-%03d-*", i)))
				switch a.status {
				case 201:
				case 400:
					refused[i][half] = true
					if p := a.problem(); p.Code != "conflict" || !slices.Contains(p.Refs, resource.Ref{Kind: "Route", Name: other}) {
						t.Errorf("%s: the refusal does not name %s: %s", name, other, a.body)
					}
				default:
					t.Errorf("%s: %d %s", name, a.status, a.body)
				}
			})
		}
	}
	wg.Wait()
	for i, r := range refused {
		if r[0] == r[1] {
			t.Errorf("pair %d: refused %v", i, r)
		}
	}
	if c := routing.Conflicts(e.live.Load().Routing.Routes()); len(c) > 0 {
		t.Errorf("%v", c)
	}
	if got := len(e.get("/routes?limit=500").object()["items"].([]any)); got != pairs+2 { // and two reserved names
		t.Errorf("%d routes are stored", got)
	}
	if e.live.Load().Revision != uint64(e.revision()) || e.revision() != pairs+1 {
		t.Errorf("live is %d, stored is %d", e.live.Load().Revision, e.revision())
	}
}

// RT-PAT-3: a conflict is reported at the object and field that is being
// written, whichever of the two names comes first, and names the other one.
func TestRT_PAT_3_a_conflict_is_at_what_is_written(t *testing.T) {
	e := newEnv(t)
	e.provider("a")
	for _, n := range []string{"1", "2"} {
		body := routeBody("a", "m"+n+"-*", "one-of-"+n)
		body["aliases"] = []any{map[string]any{"name": "al-" + n, "wireModels": map[string]any{"a": "x"}}}
		e.admin("PUT", "/routes/r"+n, body).want(201)
	}
	aliased := func(name string) map[string]any {
		body := routeBody("a", "zz-*")
		body["aliases"] = []any{map[string]any{"name": name, "wireModels": map[string]any{"a": "x"}}}
		return body
	}
	for _, c := range []struct {
		name, other, path string
		body              map[string]any
	}{
		{"r1", "r2", "modelPatterns[1]", routeBody("a", "zz-*", "m2-*")},
		{"r2", "r1", "modelPatterns[1]", routeBody("a", "zz-*", "m1-*")},
		{"r0", "r1", "modelPatterns[1]", routeBody("a", "zz-*", "al-1")},
		{"r9", "r1", "modelPatterns[0]", routeBody("a", "AL-1")},
		{"r0", "r1", "aliases[0].name", aliased("al-1")},
		{"r0", "r1", "aliases[0].name", aliased("one-of-1")},
		{"r9", "r1", "aliases[0].name", aliased("one-of-1")},
	} {
		p := e.admin("PUT", "/routes/"+c.name, c.body).code(400, "conflict").problem()
		if x := p.Errors[0]; len(p.Errors) != 1 || x.Path != c.path || x.Object.Name != c.name || !strings.Contains(x.Message, fmt.Sprintf("%q", c.other)) {
			t.Errorf("%s against %s: %+v", c.name, c.other, p)
		}
		if !slices.Contains(p.Refs, resource.Ref{Kind: "Route", Name: c.other}) || strings.Count(p.Detail, c.other) != 1 {
			t.Errorf("%s does not name %s: %+v", c.name, c.other, p)
		}
	}
	for name, line := range map[string]int{"r1": 5, "r0": 5} {
		text := "kind: Route\nname: " + name + "\nmodelPatterns:\n  - zz-*\n  - m2-*\nmembers: [{provider: a}]\n"
		x := e.admin("POST", "/import", text, "Content-Type", "application/yaml").want(400).problem().Errors[0]
		if x.Line != line || x.Column != 5 || x.Object.Name != name {
			t.Errorf("import of %s: %+v", name, x)
		}
	}
	// A name that a provider has is at the name of what is written, too.
	x := e.admin("PUT", "/providers/r1", providerBody("https://api.example.com")).code(409, "name_taken").errorAt("name")
	if x.Object.Kind != "Provider" || !strings.Contains(x.Message, `Route "r1"`) {
		t.Errorf("%+v", x)
	}
}

// BY-13: without an If-Match a drain is never refused for what others change
// meanwhile, and takes nothing of it back.
func TestBY_13_parallel_drains_without_an_ETag(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if a := e.admin("POST", "/providers/main/drain", fmt.Sprintf(`{"drained":%t}`, i%2 == 0)); a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	e.admin("POST", "/providers/main/drain", nil, "If-Match", `"1"`).code(412, "stale")
	e.admin("POST", "/providers/gone/drain", nil).code(404, "not_found")
	if got := e.get("/providers/main").object(); got["hasApiKey"] != true {
		t.Errorf("its key is lost: %v", got)
	}
}

// AP: of many writers with one ETag exactly one wins.
func TestAP_one_ETag_one_winner(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	var wg sync.WaitGroup
	won := make([]int, 30)
	for i := range won {
		wg.Go(func() {
			won[i] = e.admin("PUT", "/providers/main", providerBody(fmt.Sprintf("https://n%d.example.com", i)), "If-Match", `"1"`).status
		})
	}
	wg.Wait()
	n := 0
	for _, status := range won {
		switch status {
		case 200:
			n++
		case 412:
		default:
			t.Errorf("status %d", status)
		}
	}
	if n != 1 || e.get("/providers/main").field("version") != "2" {
		t.Errorf("%d won", n)
	}
}
