package admin_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/admin"
)

// serve sends a request without a network and stops the test if the API fails
// or shows what it must not.
func (e *env) serve(t *testing.T, method, target string, body []byte, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Skip("no request line")
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://gateway.example.com", bytes.NewReader(body))
	if err != nil {
		t.Skip("no request")
	}
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = u.Path, u.RawPath, u.RawQuery
	r.Header.Set("Authorization", "Bearer "+adminToken)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, r)
	if w.Code >= 500 || w.Code == 422 || w.Code < 200 || w.Code >= 300 && w.Code < 400 {
		t.Fatalf("%s %s: %d %s\n%s", method, target, w.Code, w.Body, e.logged)
	}
	if w.Code >= 400 && w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%s %s: %d %s", method, target, w.Code, w.Header())
	}
	if bytes.Contains(w.Body.Bytes(), []byte("sealed:v1:")) {
		t.Fatalf("%s %s: %s", method, target, w.Body)
	}
	return w
}

// Whatever is sent as a body, the API refuses or takes it; what it takes can
// be read, exported and imported again.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"type":"anthropic","apiKey":"sk-ant-0000000000000000"}`, `{"type":"openai-compatible","baseUrl":"https://a.example.com","headers":{"x":"y"}}`,
		`{"modelPatterns":["gpt-*"],"members":[{"provider":"main","weight":3}]}`, `{"type":"service","labels":{"a":"b"},"expiresAt":"2027-01-01T00:00:00Z"}`,
		`{"prices":{"input":1e309}}`, `{"residencies":["x"],"unknownModelStatus":404}`, `{"documents":[{"kind":"Model","name":"m"}]}`, `{"overlapSeconds":1}`,
		`{"apiKey":null}`, `null`, `[]`, `{`, `{"enabled":null}`, `{"timeouts":{"connectMs":null}}`, "{\"name\":\"\xff\"}", `{"name":"\ud800"}`, `{"kind":"Provider","version":1,"createdAt":7}`,
		`{"aws":{"secretAccessKey":null}}`, `{"a":{"a":{"a":{}}}}`, `{"members":[null]}`, `{"owner":{"team":"\u0000"}}`,
	} {
		f.Add([]byte(s))
	}
	e := newEnv(f) // one for all inputs: what one leaves behind the next may meet
	f.Fuzz(func(t *testing.T, body []byte) {
		e.serve(t, "PUT", "/api/v1/providers/main", []byte(`{"type":"openai-compatible","baseUrl":"https://a.example.com","apiKey":"sk-1234567890123456"}`))
		for _, target := range []string{
			"PUT /api/v1/providers/x", "POST /api/v1/providers", "PUT /api/v1/routes/x", "PUT /api/v1/models/x%2Fy", "PUT /api/v1/settings", "POST /api/v1/keys",
			"POST /api/v1/import", "POST /api/v1/import?prune=true&dryRun=true", "POST /api/v1/keys/x/rotate",
		} {
			method, path, _ := strings.Cut(target, " ")
			w := e.serve(t, method, path, body)
			if w.Code >= 300 || !bytes.Contains([]byte(target), []byte("PUT")) {
				continue
			}
			got := e.serve(t, "GET", path, nil)
			if again := e.serve(t, "PUT", path, got.Body.Bytes()); again.Code != 200 || again.Body.String() != got.Body.String() {
				t.Fatalf("%s: what GET answered is not taken as it is: %d\n%s\n%s", path, again.Code, got.Body, again.Body)
			}
		}
		out := e.serve(t, "GET", "/api/v1/export?format=json", nil)
		if in := e.serve(t, "POST", "/api/v1/import?dryRun=true&prune=true", out.Body.Bytes()); in.Code != 200 || !strings.Contains(in.Body.String(), `"changes":[]`) {
			t.Fatalf("an export is not imported as it is: %s\n%s", in.Body, out.Body)
		}
	})
}

// Whatever is in the request line and the conditions, the API answers.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"/providers", "/providers?limit=1&cursor=e30", "/models/a%2Fb", "/models/..", "/models/%2e%2e", "/audit-events?cursor=eyJzIjoxfQ", "/audit-events?from=2026-01-01T00:00:00Z",
		"/config-versions/1/diff?to=2", "/config-versions/9223372036854775807", "/keys/x/rotate?dryRun=true", "/settings?dryRun=true", "//", "/%00", "/providers/%ff", "/export?format=json",
		"/decisions/%F0%9F%98%80", "/providers?q=%00&sort=-updatedAt", "/openapi.json?x", "?", "/config-versions?before=1&cursor=eyJiIjotMX0", "/audit-events?cursor=eyJzIjo5MjIzMzcyMDM2ODU0Nzc1ODA3fQ",
	} {
		f.Add("GET", s, `"1"`, "")
		f.Add("PUT", s, "*", "*")
		f.Add("DELETE", s, "W/", "")
	}
	e := newEnv(f)
	f.Fuzz(func(t *testing.T, method, target, match, none string) {
		if strings.ContainsAny(target, " \r\n#") {
			t.Skip()
		}
		e.serve(t, method, admin.Prefix+target, []byte(`{}`), "If-Match", match, "If-None-Match", none)
	})
}
