package admin_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// RS-VER: every change makes a version with who, when and what; it can be
// viewed and compared.
func TestRS_VER_versions_say_who_when_and_what(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	e.admin("PUT", "/routes/chat", routeBody("main", "gpt-*")).want(201)
	e.admin("PUT", "/routes/chat", routeBody("main", "gpt-5*", "o3")).want(200)
	var list struct {
		Items []struct {
			Version              int64
			Time, Actor, Summary string
		}
		NextCursor string
	}
	e.get("/config-versions").into(&list)
	if len(list.Items) != 3 || list.Items[0].Version != 3 || list.Items[0].Actor != "token:0a1b" || list.Items[0].Summary != `update Route "chat"` || list.Items[0].Time == "" {
		t.Errorf("%+v", list)
	}
	e.get("/config-versions?before=3&limit=1").into(&list)
	if len(list.Items) != 1 || list.Items[0].Version != 2 || list.NextCursor == "" {
		t.Errorf("%+v", list)
	}
	cursor := list.NextCursor
	list.NextCursor = ""
	e.get("/config-versions?limit=1&cursor=" + cursor).into(&list)
	if len(list.Items) != 1 || list.Items[0].Version != 1 || list.NextCursor != "" {
		t.Errorf("%+v", list)
	}
	var v struct {
		Version int64
		Changes []struct {
			Kind, Name, Action string
			Fields             []struct {
				Path          string
				Before, After any
			}
		}
		Objects []map[string]any
	}
	e.get("/config-versions/3").into(&v)
	if v.Version != 3 || len(v.Changes) != 1 || v.Changes[0].Action != "update" || len(v.Changes[0].Fields) != 2 || v.Changes[0].Fields[0].Path != "modelPatterns[0]" ||
		v.Changes[0].Fields[0].Before != "gpt-*" || v.Changes[0].Fields[0].After != "gpt-5*" || v.Changes[0].Fields[1].Before != nil || len(v.Objects) != 2 {
		t.Errorf("%+v", v)
	}
	e.get("/config-versions/1").into(&v)
	if len(v.Objects) != 1 || v.Objects[0]["name"] != "main" {
		t.Errorf("%+v", v)
	}
	diff := e.get("/config-versions/1/diff?to=3")
	if diff.field("from") != "1" || diff.field("to") != "3" || !strings.Contains(diff.field("text"), `create Route "chat"`) {
		t.Errorf("%s", diff.body)
	}
	if string(e.get("/config-versions/1/diff").body) != string(diff.body) {
		t.Error("the newest is not what it compares with")
	}
	if back := e.get("/config-versions/3/diff?to=1"); !strings.Contains(back.field("text"), `delete Route "chat"`) {
		t.Errorf("%s", back.body)
	}
	if same := e.get("/config-versions/3/diff?to=3"); len(same.object()["changes"].([]any)) != 0 {
		t.Errorf("%s", same.body)
	}
	for _, path := range []string{"/config-versions/4", "/config-versions/4/diff", "/config-versions/1/diff?to=9"} {
		e.admin("GET", path, nil).code(404, "not_found")
	}
	for _, path := range []string{"/config-versions/0", "/config-versions/x", "/config-versions/-1", "/config-versions/99999999999999999999", "/config-versions?before=0", "/config-versions?cursor=e30", "/config-versions?cursor=x"} {
		e.admin("GET", path, nil).code(400, "invalid")
	}
}

// RS-VER: an old version says nothing of how a key's secret is now.
func TestRS_VER_an_old_version_of_a_key(t *testing.T) {
	e := newEnv(t)
	e.admin("POST", "/keys", map[string]any{"name": "ci", "type": "pat"}).want(201)
	var v struct{ Objects []map[string]any }
	e.get("/config-versions/1").into(&v)
	if len(v.Objects) != 1 || v.Objects[0]["name"] != "ci" || v.Objects[0]["id"] == nil || v.Objects[0]["active"] != nil || v.Objects[0]["last4"] != nil {
		t.Errorf("%v", v.Objects)
	}
}

// RS-VER: restoring is a new version, validated like any save.
func TestRS_VER_restoring_is_a_new_version(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	e.admin("PUT", "/routes/chat", routeBody("main", "gpt-*")).want(201) // 2
	e.admin("PUT", "/routes/chat", routeBody("main", "o3")).want(200)    // 3
	e.admin("PUT", "/models/x", map[string]any{}).want(201)              // 4
	c := e.admin("POST", "/config-versions/2/restore", nil).want(200).changes()
	if c.Revision != 5 || len(c.Changes) != 2 {
		t.Errorf("%+v", c)
	}
	if got := toJSON(t, e.get("/routes/chat").object()["modelPatterns"]); got != `["gpt-*"]` {
		t.Error(got)
	}
	e.admin("GET", "/models/x", nil).code(404, "not_found")
	if v := e.get("/config-versions/5"); v.field("actor") != "token:0a1b" {
		t.Errorf("%s", v.body)
	}
	if string(e.get("/config-versions/2/diff?to=5").body) == "" || len(e.get("/config-versions/2/diff?to=5").object()["changes"].([]any)) != 0 {
		t.Error("version 5 is not like version 2")
	}
	// Restoring what is there makes no version.
	if c := e.admin("POST", "/config-versions/5/restore", nil).want(200).changes(); len(c.Changes) != 0 || e.revision() != 5 {
		t.Errorf("%+v", c)
	}
	e.admin("POST", "/config-versions/9/restore", nil).code(404, "not_found")
	e.admin("POST", "/config-versions/0/restore", nil).code(400, "invalid")
	// What does not hold any more is refused: a file owns the name now.
	e.admin("DELETE", "/routes/chat", nil).want(204) // 6
	e.enforce("kind: Provider\nname: chat\ntype: openai-compatible\nbaseUrl: https://filed.example.com\napiKey: env:MAIN_KEY\n")
	was := e.revision()
	e.admin("POST", "/config-versions/2/restore", nil).code(409, "name_taken")
	if e.revision() != was {
		t.Error("a refused restore wrote")
	}
}

// RS-AUDIT, AP: every write is an audit event with actor, before and after,
// secrets masked.
func TestRS_AUDIT_every_write_is_an_event(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	e.admin("PUT", "/providers/main", map[string]any{"type": "openai-compatible", "baseUrl": "https://b.example.com", "apiKey": "sk-a-second-secret-8888"}).want(200)
	e.admin("POST", "/keys", map[string]any{"name": "ci", "type": "pat"}).want(201)
	e.admin("POST", "/keys/ci/rotate", nil).want(201)
	e.admin("DELETE", "/keys/ci", nil).want(204)
	e.admin("POST", "/import", `{"documents":[{"kind":"Model","name":"m"}]}`).want(200)
	e.admin("POST", "/config-versions/1/restore", nil).want(200)
	e.admin("DELETE", "/providers/main", nil).want(204)
	e.admin("PUT", "/routes/refused", routeBody("none", "x")).want(400)
	var list struct {
		Items []struct {
			Kind, Outcome string
			Admin         struct {
				Actor, Summary string
				Revision       int64
				Changes        []struct {
					Kind, Name    string
					Before, After map[string]any
				}
			}
		}
	}
	e.get("/audit-events?kind=admin").into(&list)
	if len(list.Items) != 8 {
		t.Fatalf("%d events: %+v", len(list.Items), list)
	}
	for i, it := range list.Items {
		if it.Kind != "admin" || it.Admin.Actor != "token:0a1b" || it.Admin.Revision != int64(8-i) || len(it.Admin.Changes) == 0 || it.Admin.Summary == "" {
			t.Errorf("%d: %+v", i, it)
		}
	}
	update := list.Items[6].Admin.Changes[0]
	if update.Before["apiKey"] != "***" || update.After["apiKey"] != "*** (changed)" || update.Before["baseUrl"] != "https://api.example.com" || update.After["baseUrl"] != "https://b.example.com" {
		t.Errorf("%+v", update)
	}
	if created, deleted := list.Items[7].Admin.Changes[0], list.Items[0].Admin.Changes[0]; created.Before != nil || deleted.After != nil || deleted.Before["baseUrl"] == nil {
		t.Errorf("%+v %+v", created, deleted)
	}
}

// RS-AUDIT: the row of a change has the id of the API call that made it,
// whatever made it. RS-VER: what a delete took away is shown.
func TestRS_AUDIT_changes_name_their_request(t *testing.T) {
	e := newEnv(t)
	body := `{"type":"openai-compatible","baseUrl":"https://a.example.com","apiKey":"sk-a-literal-secret-9999","timeouts":{"connectMs":7}}`
	for _, a := range []*answer{
		e.admin("PUT", "/providers/main", body).want(201),
		e.admin("DELETE", "/providers/main", nil).want(204),
		e.admin("POST", "/keys", `{"name":"ci","type":"service"}`).want(201),
		e.admin("POST", "/keys/ci/rotate", nil).want(201),
		e.admin("DELETE", "/keys/ci", nil).want(204),
		e.admin("POST", "/import", `{"documents":[{"kind":"Model","name":"m"}]}`).want(200),
		e.admin("POST", "/config-versions/1/restore", nil).want(200),
	} {
		id := a.header.Get("X-Interlock-Request-Id")
		if rows := e.rows("kind=admin&requestId="+id, 5); id == "" || len(rows) != 1 || rows[0].RequestID != id {
			t.Errorf("%s: %q: %+v", a.what, id, rows)
		}
	}
	var d struct {
		changes
		Text string
	}
	e.get("/config-versions/1/diff?to=2").into(&d)
	var got []string
	for _, f := range d.Changes[0].Fields {
		got = append(got, fmt.Sprint(f.Path, " ", f.Before, " ", f.After))
	}
	if d := cmp.Diff([]string{"apiKey *** <nil>", "baseUrl https://a.example.com <nil>", "timeouts.connectMs 7 <nil>", "type openai-compatible <nil>"}, got); d != "" {
		t.Error(d)
	}
	if !strings.Contains(d.Text, `timeouts.connectMs: 7 -> (not set)`) {
		t.Error(d.Text)
	}
}
