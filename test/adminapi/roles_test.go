package adminapi

import (
	"encoding/json"
	"strings"
	"testing"
)

// OP-10: every operation of the document, called as nobody, as a viewer and as
// an administrator with a session, and with an admin token.
func TestOP_10_every_operation_by_role(t *testing.T) {
	r := start(t, "")
	r.person("admin", "gateway-admin", rightPassword)
	r.person("viewer", "viewer", rightPassword)
	r.call("PUT", "/providers/main", `{"type":"openai-compatible","baseUrl":"https://api.example.com"}`, 201, nil)
	nobody, viewer, administrator := r.browser(), r.browser(), r.browser()
	viewer.signIn("viewer", rightPassword)
	administrator.signIn("admin", rightPassword)
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Role        string `json:"x-role"`
			RequestBody any    `json:"requestBody"`
			Security    []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(nobody.want(nobody.api("GET", "/openapi.json", ""), 200, "").Body), &doc); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{name}", "main", "{version}", "1", "{requestId}", "none", "{id}", "main")
	seen := 0
	for path, item := range doc.Paths {
		for method, op := range item {
			seen++
			t.Run(op.OperationID, func(t *testing.T) {
				method := strings.ToUpper(method)
				at, body := fill.Replace(path), ""
				if op.RequestBody != nil {
					body = `{}`
				}
				if strings.Contains(at, "{") {
					t.Fatalf("%s: the test does not know this parameter", at)
				}
				if op.OperationID == "signOut" {
					return // it would end the sessions of this test
				}
				if op.OperationID == "streamEvents" {
					at += "?limit=x" // refused once it is known who asks: a stream does not end
				}
				dry := at
				if method != "GET" && op.Role != "public" {
					dry += "?dryRun=true"
				}
				revision := r.revision()
				got := nobody.api(method, at, body)
				if op.Role == "public" {
					if got.Status == 401 && !strings.Contains(got.Body, "wrong_") || got.Status >= 500 {
						t.Errorf("nobody gets %d %s", got.Status, got.Body)
					}
					return
				}
				if got.Status != 401 {
					t.Errorf("nobody gets %d %s", got.Status, got.Body)
				}
				got = viewer.api(method, at, body)
				if refused := got.Status == 403; refused != (op.Role == "gateway-admin") || got.Status == 401 || got.Status >= 500 {
					t.Errorf("a viewer gets %d %s", got.Status, got.Body)
				}
				if r.revision() != revision {
					t.Error("somebody who may not wrote")
				}
				for who, got := range map[string]int{"an administrator": administrator.api(method, dry, body).Status, "a token": r.Admin(t, method, dry, body).Status} {
					if got == 401 || got == 403 || got >= 500 {
						t.Errorf("%s gets %d", who, got)
					}
				}
			})
		}
	}
	if seen < 50 {
		t.Errorf("only %d operations", seen)
	}
}
