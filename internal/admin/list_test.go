package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// names lists the names of objects through every page.
func (e *env) names(path string) []string {
	e.t.Helper()
	var all []string
	cursor := ""
	for range 1000 {
		var page struct {
			Items      []struct{ Name string }
			NextCursor string
		}
		e.get(path + "&cursor=" + cursor).into(&page)
		for _, o := range page.Items {
			all = append(all, o.Name)
		}
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
	e.t.Fatal("the list does not end")
	return nil
}

// AP: lists have limit, cursor, filter and sort.
func TestAP_lists(t *testing.T) {
	e := newEnv(t)
	var byName, byTime []string
	for i := range 23 {
		name := fmt.Sprintf("m%02d", (i*7)%23)
		body := map[string]any{"family": "llama"}
		if i%3 == 0 {
			body = map[string]any{"family": "mistral", "enabled": false}
		}
		e.admin("PUT", "/models/"+name, body).want(201)
		e.clock.Add(int64(time.Millisecond))
		byTime = append(byTime, name)
	}
	byName = slices.Sorted(slices.Values(byTime))
	down := func(s []string) []string { s = slices.Clone(s); slices.Reverse(s); return s }
	for _, limit := range []int{1, 2, 5, 22, 23, 24, 500} {
		for sort, want := range map[string][]string{"name": byName, "-name": down(byName), "updatedAt": byTime, "-updatedAt": down(byTime)} {
			if d := cmp.Diff(want, e.names(fmt.Sprintf("/models?limit=%d&sort=%s", limit, sort))); d != "" {
				t.Errorf("limit %d, sort %s:\n%s", limit, sort, d)
			}
		}
	}
	if d := cmp.Diff(byName, e.names("/models?limit=50")); d != "" {
		t.Error(d)
	}
	for query, want := range map[string]int{
		"enabled=false": 8, "enabled=true": 15, "q=M0": 10, "q=mistral": 8, "q=mistral&enabled=true": 0, "q=Model": 0, "q=%20": 0, "q=MISTRAL&limit=2": 8, "q=m1&sort=-updatedAt": 10,
	} {
		if got := e.names("/models?" + query); len(got) != want {
			t.Errorf("%s: %d: %v", query, len(got), got)
		}
	}
	// 50 is the limit when none is given.
	for i := range 60 {
		e.admin("PUT", fmt.Sprintf("/models/n%02d", i), map[string]any{}).want(201)
	}
	if n := len(e.get("/models").object()["items"].([]any)); n != 50 {
		t.Errorf("%d", n)
	}
	var page struct{ NextCursor string }
	e.get("/models?limit=1").into(&page)
	e.admin("GET", "/models?sort=-name&cursor="+page.NextCursor, nil).code(400, "invalid").errorAt("query.cursor")
	if a := newEnv(t).get("/providers"); strings.TrimSpace(string(a.body)) != `{"items":[]}` {
		t.Errorf("%s", a.body)
	}
}

// AP: what comes and goes between pages shifts nothing.
func TestAP_pages_while_objects_come_and_go(t *testing.T) {
	e := newEnv(t)
	for i := range 20 {
		e.admin("PUT", fmt.Sprintf("/models/m%02d", i), map[string]any{}).want(201)
	}
	var got []string
	cursor := ""
	for i := 0; ; i++ {
		var page struct {
			Items      []struct{ Name string }
			NextCursor string
		}
		e.get("/models?limit=3&cursor=" + cursor).into(&page)
		for _, o := range page.Items {
			got = append(got, o.Name)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
		// The last one shown goes, and one comes before it.
		e.admin("DELETE", "/models/"+got[len(got)-1], nil).want(204)
		e.admin("PUT", fmt.Sprintf("/models/a%02d", i), map[string]any{}).want(201)
	}
	for i := range 20 {
		if want := fmt.Sprintf("m%02d", i); got[i] != want {
			t.Fatalf("at %d is %s: %v", i, got[i], got)
		}
	}
}
