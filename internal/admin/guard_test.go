package admin_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/admin"
	"github.com/interlock-gateway/interlock/internal/secret"
)

func (e *env) request(method, path string) *http.Request {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.server.URL+admin.Prefix+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	return r
}

// publicOperations are what somebody needs who is not signed in yet.
var publicOperations = map[string]bool{"getAuthState": true, "signIn": true, "signOut": true, "setUp": true, "startOIDC": true, "finishOIDC": true}

// OP-10: every operation of the document, called as nobody, viewer and
// administrator. An operation that is new is called without a change here.
func TestOP_10_every_operation_checks_its_role(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	e.record(1, nil)
	ops, err := admin.Operations()
	if err != nil || len(ops) < 30 {
		t.Fatalf("%d operations, %v", len(ops), err)
	}
	fill := strings.NewReplacer("{name}", "main", "{version}", "1", "{requestId}", "req-001")
	for _, op := range ops {
		t.Run(op.ID, func(t *testing.T) {
			e.t = t
			if op.Public {
				if !publicOperations[op.ID] || op.Role != "" {
					t.Errorf("%s is for everybody", op.ID)
				}
				return // test/adminapi calls them
			}
			reads := op.Method == "GET" || op.ID == "resolveRouting" // it changes nothing
			if op.Role != admin.RoleAdmin && op.Role != admin.RoleViewer || reads != (op.Role == admin.RoleViewer) {
				t.Errorf("%s %s needs the role %q", op.Method, op.Path, op.Role)
			}
			path := fill.Replace(op.Path)
			if op.ID == "streamEvents" {
				path += "?limit=x" // refused once it is known who asks: a stream does not end
			}
			if strings.Contains(path, "{") {
				t.Fatalf("%s: the test does not know this parameter", path)
			}
			var body any
			if op.Body {
				body = `{}`
			}
			before := e.revision()
			for _, token := range []string{"", "wrong", "a-token-with-no-known-role"} {
				want, code := 401, "unauthenticated"
				if token == "a-token-with-no-known-role" {
					want, code = 403, "forbidden"
				}
				a := e.as(token, op.Method, path, body).code(want, code)
				if want == 401 && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
					t.Error("no WWW-Authenticate")
				}
			}
			viewer := e.as(viewerToken, op.Method, path, body)
			if op.Role == admin.RoleAdmin {
				viewer.code(403, "forbidden")
			} else if viewer.status == 401 || viewer.status == 403 || viewer.status >= 500 {
				t.Errorf("a viewer gets %d: %s", viewer.status, viewer.body)
			}
			if e.revision() != before {
				t.Error("somebody who may not wrote")
			}
			q := "?dryRun=true"
			if op.Method == "GET" {
				q = ""
			}
			if a := e.admin(op.Method, path+q, body); a.status == 401 || a.status == 403 || a.status >= 500 {
				t.Errorf("an administrator gets %d: %s", a.status, a.body)
			}
		})
	}
}

// AP: wrong credentials in every form are 401.
func TestAP_credentials(t *testing.T) {
	e := newEnv(t)
	for _, header := range []string{
		"", "Bearer", "Bearer ", "Bearer  ", "Basic " + adminToken, adminToken, "Bearer " + adminToken + "x", "Bearer " + adminToken[:10],
		"Bearer " + strings.ToUpper(adminToken), "Bearer " + adminToken + "," + viewerToken,
	} {
		r := e.request("GET", "/me")
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		e.handler.ServeHTTP(w, r)
		if w.Code != 401 {
			t.Errorf("%q: %d", header, w.Code)
		}
	}
	r := e.request("GET", "/me")
	r.Header.Add("Authorization", "Bearer "+adminToken)
	w := httptest.NewRecorder()
	if e.handler.ServeHTTP(w, r); w.Code != 401 {
		t.Errorf("two credentials: %d", w.Code)
	}
	e.as("", "GET", "/providers?access_token="+adminToken, nil).code(401, "unauthenticated")
	if a := e.get("/me"); a.field("name") != "token:0a1b" || a.field("role") != "gateway-admin" || a.field("version") != "1.2.3-test" {
		t.Errorf("%s", a.body)
	}
	if a := e.as(viewerToken, "GET", "/me", nil, "Authorization", "bearer "+viewerToken).want(200); a.field("role") != "viewer" {
		t.Errorf("%s", a.body)
	}
}

func TestTokens(t *testing.T) {
	tokens := admin.NewTokens(admin.Token{Role: admin.RoleAdmin}, admin.Token{Secret: secret.New(""), Role: admin.RoleAdmin})
	ask := func(token string) error {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		_, err := tokens.Authenticate(r)
		return err
	}
	if err := ask(""); !errors.Is(err, admin.ErrUnauthenticated) {
		t.Errorf("an empty token lets in: %v", err)
	}
	tokens.Replace(admin.Token{Secret: secret.New("one"), Role: admin.RoleAdmin})
	if ask("one") != nil || ask("two") == nil {
		t.Error("replacing")
	}
	tokens.Replace()
	if ask("one") == nil {
		t.Error("a removed token lets in")
	}
}

// A fault of ours is never 401.
func TestAP_a_failing_authenticator_is_no_401(t *testing.T) {
	e := newEnv(t)
	for _, cause := range []error{errors.New("the cause"), errUnavailable} {
		h, err := admin.New(admin.Options{Control: e.control, Records: e.store, Auth: func(*http.Request) (admin.Principal, error) { return admin.Principal{}, cause }})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, e.request("GET", "/me"))
		if w.Code != 503 || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "the cause") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// AP: writes that a page of another site sends are refused; tools pass.
func TestAP_cross_site_writes_are_refused(t *testing.T) {
	e := newEnv(t)
	body := `{"type":"openai-compatible","baseUrl":"https://a.example.com"}`
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example.com"}, {"Origin", "null"},
	} {
		e.admin("PUT", "/providers/main", body, headers...).code(403, "cross_site")
		e.admin("GET", "/providers", nil, headers...).want(200)
	}
	for _, headers := range [][]string{{}, {"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"}, {"Origin", e.server.URL}} {
		a := e.admin("PUT", "/providers/main", body, headers...)
		if a.status != 200 && a.status != 201 {
			t.Errorf("%v: %d %s", headers, a.status, a.body)
		}
	}
	a := e.admin("OPTIONS", "/providers", nil, "Origin", "https://evil.example.com", "Access-Control-Request-Method", "PUT").code(405, "method_not_allowed")
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control") {
			t.Errorf("%s: %s", name, a.header.Get(name))
		}
	}
}

// AP: unknown paths and methods are problems, too.
func TestAP_unknown_paths_and_methods(t *testing.T) {
	e := newEnv(t)
	for _, path := range []string{"/api/", "/api", "/api/v1", "/api/v1/", "/api/v2/providers", "/api/v1/nothing", "/api/v1/providers/", "/api/v1//providers", "/api/v1/./providers", "/api/v1/providers/a/b", "/api/v1/openapi", "/api/v1/docs", "/api/v1/schemas/Provider.json"} {
		for _, token := range []string{"", adminToken} {
			e.as(token, "GET", path, nil).code(404, "not_found")
			e.as(token, "POST", path, `{}`).code(404, "not_found")
		}
	}
	for path, allow := range map[string]string{
		"/providers": "GET, HEAD, POST", "/providers/x": "DELETE, GET, HEAD, PUT", "/settings": "GET, HEAD, PUT", "/export": "GET, HEAD", "/import": "POST",
		"/config-versions/1/restore": "POST", "/keys/x/rotate": "POST", "/openapi.json": "GET, HEAD",
	} {
		a := e.admin("PATCH", path, `{}`).code(405, "method_not_allowed")
		if a.header.Get("Allow") != allow {
			t.Errorf("%s: Allow %q", path, a.header.Get("Allow"))
		}
	}
	r := e.request("CONNECT", "/providers")
	w := httptest.NewRecorder()
	if e.handler.ServeHTTP(w, r); w.Code != 405 && w.Code != 404 {
		t.Errorf("CONNECT: %d", w.Code)
	}
	if a := e.admin("HEAD", "/providers", nil).want(200); len(a.body) != 0 {
		t.Errorf("%q", a.body)
	}
}

// AP: whatever Accept says, what is JSON says that it is.
func TestAP_content_types(t *testing.T) {
	e := newEnv(t)
	for _, accept := range []string{"json", "application/problem+json", "text/html", "*/*", "application/json;q=0", ""} {
		if a := e.admin("GET", "/providers", nil, "Accept", accept).want(200); a.header.Get("Content-Type") != "application/json" {
			t.Errorf("Accept %q: %s", accept, a.header.Get("Content-Type"))
		}
		e.admin("GET", "/providers/none", nil, "Accept", accept).code(404, "not_found")
		e.admin("GET", "/providers?limit=x", nil, "Accept", accept).code(400, "invalid")
	}
}

// AP: without the store the API says 503 and when to come again, and recovers.
func TestAP_503_without_the_store(t *testing.T) {
	e := newEnv(t)
	e.provider("main")
	e.down.Store(true)
	for _, op := range []struct{ method, path, body string }{
		{"GET", "/providers", ""},
		{"GET", "/providers/main", ""},
		{"PUT", "/providers/main", `{"type":"anthropic"}`},
		{"DELETE", "/providers/main", ""},
		{"GET", "/settings", ""},
		{"GET", "/export", ""},
		{"POST", "/import", `{"documents":[]}`},
		{"POST", "/keys", `{"name":"a","type":"pat"}`},
		{"GET", "/audit-events", ""},
		{"GET", "/decisions/x", ""},
	} {
		var body any
		if op.body != "" {
			body = op.body
		}
		a := e.admin(op.method, op.path, body).code(503, "store_unavailable")
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", op.method, op.path)
		}
	}
	e.down.Store(false)
	e.get("/providers/main")
	e.admin("PUT", "/providers/main", providerBody("https://b.example.com")).want(200)
}

// A panic is an internal error with an id that the log has; nothing of it is
// shown.
func TestAP_a_panic_is_an_internal_error(t *testing.T) {
	e := newEnv(t)
	h, err := admin.New(admin.Options{
		Control: e.control, Records: e.store, Log: e.logger(),
		Auth: func(*http.Request) (admin.Principal, error) { panic("the cause of it") },
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, e.request("GET", "/me"))
	id := w.Header().Get("X-Interlock-Request-Id")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "the cause") || !strings.Contains(w.Body.String(), id) || id == "" || !strings.Contains(e.logged.String(), "the cause of it") || !strings.Contains(e.logged.String(), id) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestNew_says_what_is_missing(t *testing.T) {
	e := newEnv(t)
	auth := func(*http.Request) (admin.Principal, error) { return admin.Principal{}, nil }
	for _, o := range []admin.Options{{Records: e.store, Auth: auth}, {Control: e.control, Auth: auth}, {Control: e.control, Records: e.store}} {
		if _, err := admin.New(o); err == nil {
			t.Errorf("%s", fmt.Sprint(o))
		}
	}
}
