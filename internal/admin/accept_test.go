package admin_test

import (
	"strings"
	"testing"
)

// AP: Accept chooses the form by its q, for the audit and the export; of two
// that are the same the one that is named first.
func TestAP_accept_has_weights(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct{ path, accept, want string }{
		{"/audit-events", "", "application/json"},
		{"/audit-events", "*/*", "application/json"},
		{"/audit-events", "text/html", "application/json"},
		{"/audit-events", "text/csv;q=0.1, application/json", "application/json"},
		{"/audit-events", "text/csv; q=0.9, application/json;q=0.5", "text/csv"},
		{"/audit-events", "application/json, text/csv", "application/json"},
		{"/audit-events", "text/csv, application/json", "text/csv"},
		{"/audit-events", "text/csv;q=0", "application/json"},
		{"/audit-events", "text/csv;q=x, */*;q=0.1", "application/json"},
		{"/audit-events", "TEXT/CSV", "text/csv"},
		{"/audit-events", "text/*", "text/csv"},
		{"/audit-events", "application/x-ndjson, */*;q=0.5", "application/x-ndjson"},
		{"/export", "", "application/yaml"},
		{"/export", "application/json;q=0.1, application/yaml", "application/yaml"},
		{"/export", "application/yaml;q=0.1, application/json", "application/json"},
		{"/export", "application/json", "application/json"},
		{"/export", "text/html, */*", "application/yaml"},
	} {
		got := e.admin("GET", c.path, nil, "Accept", c.accept).want(200).header.Get("Content-Type")
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q: %s, want %s", c.path, c.accept, got, c.want)
		}
	}
}

// AP: a filter that the audit does not have is refused, as it is in other
// lists: it would look as if it had found everything.
func TestAP_unknown_filters_are_refused(t *testing.T) {
	e := newEnv(t)
	for _, q := range []string{"actor=nobody", "sort=x", "q=x", "Kind=request"} {
		name, _, _ := strings.Cut(q, "=")
		for _, list := range []string{"/audit-events", "/teams", "/config-versions"} {
			if list == "/teams" && (name == "q" || name == "sort") {
				continue
			}
			e.admin("GET", list+"?"+q, nil).code(400, "invalid").errorAt("query." + name)
		}
	}
	e.admin("GET", "/audit-events?kind=request&user=x&limit=3", nil).want(200)
}
