package admin_test

import (
	"fmt"
	"slices"
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
