package fakellm

import (
	"net/http"
	"strings"
	"testing"
)

func TestControlPlane(t *testing.T) {
	f := start(t)
	if a := f.post("/__fake/rules", `[{"name":"a","action":"status","status":418,"times":1}]`); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := f.post("/__fake/rules/add", `[{"name":"b","action":"reply","reply":{"text":"scripted"}}]`); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := f.post(chatPath, `{"x":1}`); a.status != http.StatusTeapot {
		t.Errorf("status %d", a.status)
	}
	if a := f.post(chatPath, `{}`); at(t, string(a.body), "choices.0.message.content") != "scripted" {
		t.Errorf("got %s", a.body)
	}
	records := string(f.get("/__fake/records").body)
	if at(t, records, "0.rule") != "a" || at(t, records, "1.rule") != "b" || at(t, records, "0.body.x") != 1.0 || at(t, records, "0.raw") != nil {
		t.Errorf("records %s", records)
	}
	raw, _ := at(t, string(f.get("/__fake/records?raw=1").body), "0.raw").(string)
	if string(decodeBase64(t, raw)) != `{"x":1}` {
		t.Errorf("raw %q", raw)
	}
	if stats := string(f.get("/__fake/stats").body); at(t, stats, "requests") != 2.0 || at(t, stats, "in_flight") != 0.0 {
		t.Errorf("stats %s", stats)
	}
	f.post("/__fake/reset", "")
	if b := f.get("/__fake/records").body; strings.TrimSpace(string(b)) != "[]" {
		t.Errorf("records after a reset: %s", b)
	}
	if a := f.get("/__fake/health"); at(t, string(a.body), "ok") != true {
		t.Errorf("health %s", a.body)
	}
	for _, bad := range []string{`[{"actoin":"hang"}]`, `[{"action":"nothing"}]`, `{`} {
		if a := f.post("/__fake/rules", bad); a.status != http.StatusBadRequest {
			t.Errorf("%s: status %d", bad, a.status)
		}
	}
	if a := f.get("/__fake/unknown"); a.status != http.StatusNotFound {
		t.Errorf("status %d", a.status)
	}
}
