package admin_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// sampleOf is a valid body of a kind and a change of it.
func sampleOf(t *testing.T, kind string) (name string, body, changed map[string]any) {
	t.Helper()
	switch kind {
	case "Provider":
		body, changed = providerBody("https://a.example.com"), providerBody("https://b.example.com")
		return "main", body, changed
	case "Route":
		return "chat", routeBody("used", "gpt-*"), routeBody("used", "gpt-*", "o3-*")
	case "Key":
		return "ci", map[string]any{"type": "service", "agent": "one"}, map[string]any{"type": "service", "agent": "two"}
	case "Department":
		return "IT & Æ/ther", map[string]any{"description": "all of it"}, map[string]any{"description": "some of it"}
	case "Team":
		return "Plattform Süd", map[string]any{"description": "x"}, map[string]any{"description": "y"}
	case "User":
		return "ann@example.com", map[string]any{"groups": []any{"a b"}}, map[string]any{"groups": []any{"a b"}, "role": "viewer"}
	case "Model":
		return "meta/llama-*", map[string]any{"family": "llama"}, map[string]any{"family": "llama", "contextWindow": 8000}
	case "Settings":
		return "settings", map[string]any{"residencies": []any{"sweden"}}, map[string]any{"residencies": []any{"sweden", "norway"}}
	}
	t.Fatalf("the kind %s has no sample; add one", kind)
	return "", nil, nil
}

// AP: every kind has a row in the table, and the table has nothing else.
func TestAP_every_kind_has_operations(t *testing.T) {
	var rows []string
	for _, r := range admin.Resources() {
		rows = append(rows, r.Kind)
	}
	for _, k := range resource.Kinds() {
		if !slices.Contains(rows, k.Name) {
			t.Errorf("%s is not in admin.Resources", k.Name)
		}
	}
	if len(rows) != len(resource.Kinds()) {
		t.Errorf("rows %v", rows)
	}
}

// AP: create 201, update 200, delete 204, get and list, for every kind.
func TestAP_CRUD_of_every_kind(t *testing.T) {
	for _, r := range admin.Resources() {
		if r.Single {
			continue
		}
		t.Run(r.Kind, func(t *testing.T) {
			e := newEnv(t)
			e.provider("used")
			name, body, changed := sampleOf(t, r.Kind)
			at := "/" + r.Plural + "/" + url.PathEscape(name)
			e.admin("GET", at, nil).code(404, "not_found")
			e.admin("DELETE", at, nil).code(404, "not_found")

			body["name"] = name
			created := e.admin("POST", "/"+r.Plural, body).want(201)
			if loc := created.header.Get("Location"); !r.ByID && loc != "/api/v1"+at || created.header.Get("ETag") != `"1"` {
				t.Errorf("Location %q, ETag %q", loc, created.header.Get("ETag"))
			}
			e.admin("GET", created.header.Get("Location"), nil).want(200)
			e.admin("POST", "/"+r.Plural, body).code(409, "name_taken")

			got := e.get(at)
			if got.field("version") != "1" || got.field("kind") != r.Kind || got.field("name") != name || got.field("managedBy") != "api" || got.header.Get("ETag") != `"1"` {
				t.Errorf("got %s", got.body)
			}
			var list struct{ Items []map[string]any }
			e.get("/" + r.Plural).into(&list)
			if !slices.ContainsFunc(list.Items, func(o map[string]any) bool { return cmp.Equal(o, got.object()) }) {
				t.Errorf("the list has not what GET shows: %v", list.Items)
			}

			put := e.admin("PUT", at, changed).want(200)
			if put.header.Get("ETag") != `"2"` || put.field("version") != "2" || put.header.Get("Location") != "" {
				t.Errorf("PUT answered %v %s", put.header, put.body)
			}
			if d := cmp.Diff(put.object(), e.get(at).object()); d != "" {
				t.Errorf("PUT shows something else than GET:\n%s", d)
			}
			e.admin("DELETE", at, nil).want(204)
			e.admin("GET", at, nil).code(404, "not_found")
		})
	}
}

// AP: PUT of a new name creates it, but for keys, whose secret only POST shows.
func TestAP_PUT_creates(t *testing.T) {
	e := newEnv(t)
	e.provider("used")
	for _, r := range admin.Resources() {
		name, body, _ := sampleOf(t, r.Kind)
		at := "/" + r.Plural + "/" + url.PathEscape(name)
		switch {
		case r.Single:
		case r.Kind == "Key":
			e.admin("PUT", at, body).code(404, "not_found")
		default:
			if a := e.admin("PUT", at, body).want(201); a.header.Get("Location") != "/api/v1"+at {
				t.Errorf("Location %q", a.header.Get("Location"))
			}
		}
	}
}

// AP: settings are always there.
func TestAP_settings(t *testing.T) {
	e := newEnv(t)
	if a := e.get("/settings"); a.header.Get("ETag") != `"0"` || a.field("name") != "settings" {
		t.Errorf("%v %s", a.header, a.body)
	}
	e.admin("DELETE", "/settings", nil).code(405, "method_not_allowed")
	e.admin("POST", "/settings", map[string]any{}).code(405, "method_not_allowed")
	_, body, changed := sampleOf(t, "Settings")
	if a := e.admin("PUT", "/settings", body, "If-Match", `"0"`).want(200); a.header.Get("ETag") != `"1"` {
		t.Errorf("%v", a.header)
	}
	e.admin("PUT", "/settings", changed, "If-Match", `"0"`).code(412, "stale")
	e.admin("PUT", "/settings", changed, "If-Match", `"1"`).want(200)
	e.admin("PUT", "/settings", map[string]any{"unknownModelStatus": 500}).code(400, "invalid").errorAt("unknownModelStatus")
	e.admin("PUT", "/settings", map[string]any{"name": "other"}).code(400, "invalid").errorAt("name")
}

// AP, RS-PROV: version is the ETag; a stale If-Match is 412.
func TestAP_ETag(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	body := providerBody("https://b.example.com")
	for _, tc := range []struct {
		headers []string
		status  int
	}{
		{[]string{"If-Match", `"2"`}, 412},
		{[]string{"If-Match", `"0"`}, 412},
		{[]string{"If-Match", `"x"`}, 412},
		{[]string{"If-Match", `"01"`}, 412},
		{[]string{"If-Match", `"1`}, 400},
		{[]string{"If-Match", `"1", "2"`}, 400},
		{[]string{"If-None-Match", `*`}, 412},
		{[]string{"If-None-Match", `"1"`}, 400},
		{[]string{"If-None-Match", `*`, "If-Match", `"1"`}, 400},
	} {
		e.admin("PUT", "/providers/main", body, tc.headers...).want(tc.status)
		if v := e.get("/providers/main").field("version"); v != "1" {
			t.Fatalf("%v wrote version %s", tc.headers, v)
		}
	}
	e.admin("PUT", "/providers/main", body, "If-Match", `"1"`).want(200)
	e.admin("PUT", "/providers/main", body, "If-Match", `"1"`).code(412, "stale")
	e.admin("PUT", "/providers/main", providerBody("https://c.example.com"), "If-Match", `W/"2"`).want(200)
	e.admin("PUT", "/providers/main", providerBody("https://d.example.com"), "If-Match", `*`).want(200)
	e.admin("PUT", "/providers/main", providerBody("https://e.example.com"), "If-Match", `4`).want(200)
	e.admin("PUT", "/providers/none", body, "If-Match", `*`).code(412, "stale")
	e.admin("PUT", "/providers/none", body, "If-Match", `"1"`).code(412, "stale")
	e.admin("PUT", "/providers/none", body, "If-None-Match", `*`).want(201)
	e.admin("DELETE", "/providers/none", nil, "If-Match", `"7"`).code(412, "stale")
	e.admin("DELETE", "/providers/none", nil, "If-Match", `"0"`).code(412, "stale")
	e.admin("DELETE", "/providers/none", nil, "If-Match", `"1"`).want(204)
}

// AP: a dry run validates, says what it would change, and writes nothing.
func TestAP_dry_run_writes_nothing(t *testing.T) {
	e := newEnv(t)
	e.provider("used")
	e.admin("PUT", "/routes/chat", routeBody("used", "gpt-*")).want(201)
	e.admin("POST", "/keys", map[string]any{"name": "ci", "type": "service"}).want(201)
	before, records := e.get("/export?format=json").body, len(e.get("/audit-events").object()["items"].([]any))
	was := e.revision()
	for _, tc := range []struct{ method, path, body, action, name string }{
		{"POST", "/routes", `{"name":"new","modelPatterns":["o3"],"members":[{"provider":"used"}]}`, "create", "new"},
		{"PUT", "/routes/new", `{"modelPatterns":["o3"],"members":[{"provider":"used"}]}`, "create", "new"},
		{"PUT", "/routes/chat", `{"modelPatterns":["gpt-5"],"members":[{"provider":"used"}]}`, "update", "chat"},
		{"DELETE", "/routes/chat", "", "delete", "chat"},
		{"PUT", "/settings", `{"residencies":["sweden"]}`, "create", "settings"},
		{"POST", "/keys", `{"name":"new","type":"service"}`, "create", "new"},
		{"PUT", "/keys/ci", `{"type":"pat"}`, "update", "ci"},
		{"POST", "/keys/ci/rotate", ``, "create", "ci-r2"},
		{"DELETE", "/keys/ci", ``, "delete", "ci"},
		{"POST", "/import", `{"documents":[{"kind":"Model","name":"m"}]}`, "create", "m"},
		{"POST", "/config-versions/1/restore", ``, "delete", "ci"},
	} {
		var body any
		if tc.body != "" {
			body = tc.body
		}
		c := e.admin(tc.method, tc.path+"?dryRun=true", body).want(200).changes()
		if c.Revision != was+1 || len(c.Changes) == 0 || !slices.ContainsFunc(c.Changes, func(x struct {
			Kind, Name, Action string
			Fields             []struct {
				Path          string
				Before, After any
			}
		},
		) bool {
			return x.Action == tc.action && x.Name == tc.name
		}) {
			t.Errorf("%s %s: %+v", tc.method, tc.path, c)
		}
	}
	if c := e.admin("PUT", "/routes/chat?dryRun=true", routeBody("used", "gpt-*")).want(200).changes(); len(c.Changes) != 0 || c.Revision != was {
		t.Errorf("a dry run of no change: %+v", c)
	}
	e.admin("PUT", "/routes/chat?dryRun=true", routeBody("none", "gpt-*")).code(400, "missing_reference").errorAt("members[0].provider")
	e.admin("DELETE", "/providers/used?dryRun=true", nil).code(409, "in_use")
	if e.revision() != was || string(e.get("/export?format=json").body) != string(before) {
		t.Error("something was written")
	}
	if n := len(e.get("/audit-events").object()["items"].([]any)); n != records {
		t.Errorf("a dry run is in the audit: %d rows, before %d", n, records)
	}
	// Whatever looks like a dry run and is none must not write either.
	for _, q := range []string{"dryrun=true", "dryRun=yes", "dryRun=1", "dryRun=", "dryRun", "dryRun=true&dryRun=false", "dryRun=true;x=1", "dry_run=true"} {
		e.admin("DELETE", "/routes/chat?"+q, nil).code(400, "invalid")
	}
}

// AP: a change that changes nothing makes no version.
func TestAP_no_change_makes_no_version(t *testing.T) {
	e := newEnv(t)
	e.provider("used")
	e.admin("PUT", "/routes/chat", routeBody("used", "gpt-*")).want(201)
	was := e.revision()
	e.admin("PUT", "/routes/chat", routeBody("used", "gpt-*")).want(200)
	if e.revision() != was || e.get("/routes/chat").field("version") != "1" {
		t.Error("it made a version")
	}
}

// RS-PROV-4: deleting something that is in use is 409 and names every user.
func TestRS_PROV_4_deleting_what_is_used_names_the_users(t *testing.T) {
	e := newEnv(t)
	e.provider("used")
	e.admin("PUT", "/routes/one", routeBody("used", "gpt-*")).want(201)
	e.admin("PUT", "/routes/two", routeBody("used", "o3-*")).want(201)
	p := e.admin("DELETE", "/providers/used", nil).code(409, "in_use").problem()
	want := []resource.Ref{{Kind: "Route", Name: "one"}, {Kind: "Route", Name: "two"}}
	if d := cmp.Diff(want, p.Refs); d != "" || !strings.Contains(p.Detail, `"one"`) || !strings.Contains(p.Detail, `"two"`) {
		t.Errorf("%+v %s", p, d)
	}
	e.admin("DELETE", "/routes/one", nil).want(204)
	e.admin("DELETE", "/routes/two", nil).want(204)
	e.admin("DELETE", "/providers/used", nil).want(204)
}

// RS-PROV-3: providers and routes share one name space, both ways.
func TestRS_PROV_3_taken_names(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	route := routeBody("main", "gpt-*")
	p := e.admin("PUT", "/routes/main", route).code(409, "read_only").problem()
	if !slices.Contains(p.Refs, resource.Ref{Kind: "Provider", Name: "main"}) {
		t.Errorf("%+v", p)
	}
	e.admin("PUT", "/routes/chat", route).want(201)
	p = e.admin("PUT", "/providers/chat", providerBody("https://x.example.com")).code(409, "name_taken").problem()
	if !slices.Contains(p.Refs, resource.Ref{Kind: "Route", Name: "chat"}) {
		t.Errorf("%+v", p)
	}
}

// RT-PAT-2: the names of the family routes are reserved, and a taken name is
// refused both ways.
func TestRT_PAT_2_reserved_names(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	for _, name := range []string{"anthropic-family", "openai-family"} {
		e.admin("PUT", "/providers/"+name, providerBody("https://x.example.com")).code(409, "name_taken")
		e.admin("PUT", "/routes/"+name, routeBody("main", "o3")).code(409, "name_taken")
		e.admin("POST", "/routes?dryRun=true", merge(routeBody("main", "o3"), "name", name)).code(409, "name_taken")
	}
	e.admin("POST", "/routes", merge(routeBody("main", "o3"), "name", "main")).code(409, "name_taken")
	e.admin("POST", "/routes", merge(routeBody("main", "o3"), "name", "chat")).want(201)
	e.admin("POST", "/providers", merge(providerBody("https://x.example.com"), "name", "chat")).code(409, "name_taken")
}

// RT-PAT-3, RT-PAT-1: what is wrong with a route is 400 at its path.
func TestRT_PAT_3_a_wrong_route_is_400_at_its_path(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	e.provider("other")
	for _, tc := range []struct{ path, code, body string }{
		{"modelPatterns", "invalid", `{"members":[{"provider":"main"}]}`},
		{"modelPatterns", "invalid", `{"modelPatterns":[],"members":[{"provider":"main"}]}`},
		{"modelPatterns[1]", "invalid", `{"modelPatterns":["a","b**c["],"members":[{"provider":"main"}]}`},
		{"members[0].weight", "invalid", `{"modelPatterns":["a"],"members":[{"provider":"main","weight":-1}]}`},
		{"members[1].weight", "invalid", `{"modelPatterns":["a"],"members":[{"provider":"main"},{"provider":"other","weight":1000001}]}`},
		{"members[0].provider", "missing_reference", `{"modelPatterns":["a"],"members":[{"provider":"none"}]}`},
		{"strategy.type", "invalid", `{"modelPatterns":["a"],"members":[{"provider":"main"}],"strategy":{"type":"best"}}`},
		{"strategy.color", "invalid", `{"modelPatterns":["a"],"members":[{"provider":"main"}],"strategy":{"color":"red"}}`},
		{"onLoss", "invalid", `{"modelPatterns":["a"],"members":[{"provider":"main"}],"onLoss":"shrug"}`},
	} {
		e.admin("PUT", "/routes/chat", tc.body).code(400, tc.code).errorAt(tc.path)
	}
	e.admin("PUT", "/routes/one", routeBody("main", "gpt-*")).want(201)
	p := e.admin("PUT", "/routes/three", routeBody("main", "gpt-*")).code(400, "conflict").problem()
	if !slices.Contains(p.Refs, resource.Ref{Kind: "Route", Name: "one"}) || !strings.Contains(p.Detail, "gpt-*") {
		t.Errorf("%+v", p)
	}
}
