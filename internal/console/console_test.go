package console_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/interlock-gateway/interlock/internal/console"
)

var app = fstest.MapFS{
	"index.html":               {Data: []byte(`<meta name="csp-nonce" content="__CSP_NONCE__"><script type="module" src="/console/assets/main-1a2b.js"></script>`)},
	"assets/main-1a2b.js":      {Data: []byte("export {}")},
	"assets/main-1a2b.js.gz":   {Data: []byte("packed")},
	"assets/style-3c4d.css":    {Data: []byte("a{}")},
	"favicon.svg":              {Data: []byte("<svg/>")},
	".gitkeep":                 {},
	"assets/inter-5e6f.woff2":  {Data: []byte("font")},
	"locales/sv-7a8b.json":     {Data: []byte("{}")},
	"assets/deep/x-9c0d.js":    {Data: []byte("1")},
	"assets/deep/x-9c0d.js.gz": {Data: []byte("2")},
}

func get(t *testing.T, o console.Options, method, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	h := console.New(o)
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var nonce = regexp.MustCompile(`'nonce-([A-Z2-7]{20,})'`)

// OP-10: nothing inline runs, no other site frames a page, and each page has a
// nonce of its own, the same in header and page.
func TestOP_10_UI_headers(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range []string{"/console/", "/console/providers", "/console/routes/claude", "/console/providers/gpt-5.4", "/console/index.html", "/console/setup"} {
		w := get(t, console.Options{Files: app}, "GET", path)
		policy := w.Header().Get("Content-Security-Policy")
		m := nonce.FindStringSubmatch(policy)
		if w.Code != 200 || m == nil || seen[m[1]] || !strings.Contains(w.Body.String(), `content="`+m[1]+`"`) || strings.Contains(w.Body.String(), "__CSP") {
			t.Fatalf("%s: %d %s %s", path, w.Code, policy, w.Body)
		}
		seen[m[1]] = true
		for _, bad := range []string{"unsafe-inline", "unsafe-eval", "*", "http:"} {
			if strings.Contains(policy, bad) {
				t.Errorf("%s: %s", path, policy)
			}
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
			"Cache-Control": "no-cache", "Content-Type": "text/html; charset=utf-8", "Etag": "", "Strict-Transport-Security": "",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s: %q", path, name, got)
			}
		}
		if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'self'") {
			t.Error(policy)
		}
	}
	if w := get(t, console.Options{Files: app, HTTPS: true}, "GET", "/console/"); w.Header().Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS over https")
	}
	if w := get(t, console.Options{Files: app}, "GET", "https://gateway.example/console/"); w.Header().Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS over TLS")
	}
}

func TestUI_files(t *testing.T) {
	const forever = "public, max-age=31536000, immutable"
	for _, tc := range []struct {
		path, accept     string
		status           int
		body, media      string
		cache, encoding  string
		withTag, isVaryd bool
	}{
		{"/console/assets/main-1a2b.js", "", 200, "export {}", "text/javascript; charset=utf-8", forever, "", true, true},
		{"/console/assets/main-1a2b.js", "br, gzip;q=0.8", 200, "packed", "text/javascript; charset=utf-8", forever, "gzip", true, true},
		{"/console/assets/main-1a2b.js", "gzip;q=0", 200, "export {}", "text/javascript; charset=utf-8", forever, "", true, true},
		{"/console/assets/style-3c4d.css", "gzip", 200, "a{}", "text/css; charset=utf-8", forever, "", true, false},
		{"/console/assets/inter-5e6f.woff2", "", 200, "font", "font/woff2", forever, "", true, false},
		{"/console/favicon.svg", "", 200, "<svg/>", "image/svg+xml", "no-cache", "", true, false},
		{"/console/assets/gone-0000.js", "", 404, "", "text/plain; charset=utf-8", "no-store", "", false, false},
		{"/console/.gitkeep", "", 404, "", "text/plain; charset=utf-8", "no-store", "", false, false},
		{"/console/assets/main-1a2b.js.gz", "", 404, "", "text/plain; charset=utf-8", "no-store", "", false, false},
		{"/console/../secrets.txt", "", 404, "", "text/plain; charset=utf-8", "no-store", "", false, false},
	} {
		w := get(t, console.Options{Files: app}, "GET", tc.path, "Accept-Encoding", tc.accept)
		h := w.Header()
		if w.Code != tc.status || tc.body != "" && w.Body.String() != tc.body || h.Get("Content-Type") != tc.media || h.Get("Cache-Control") != tc.cache ||
			h.Get("Content-Encoding") != tc.encoding || h.Get("Etag") != "" != tc.withTag || h.Get("Vary") != "" != tc.isVaryd {
			t.Errorf("%s %q: %d %v %q", tc.path, tc.accept, w.Code, h, w.Body)
		}
		if tc.status != 200 {
			continue
		}
		again := get(t, console.Options{Files: app}, "GET", tc.path, "Accept-Encoding", tc.accept, "If-None-Match", `"other", W/`+h.Get("Etag"))
		if again.Code != 304 || again.Body.Len() != 0 {
			t.Errorf("%s again: %d", tc.path, again.Code)
		}
		head := get(t, console.Options{Files: app}, "HEAD", tc.path, "Accept-Encoding", tc.accept)
		if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != h.Get("Content-Length") {
			t.Errorf("HEAD %s: %d %v", tc.path, head.Code, head.Header())
		}
	}
}

func TestUI_other_requests(t *testing.T) {
	if w := get(t, console.Options{Files: app}, "GET", "/console"); w.Code != 308 || w.Header().Get("Location") != "/console/" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if w := get(t, console.Options{Files: app}, method, "/console/"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// UI: without a built application the page says how to build it.
func TestUI_not_built(t *testing.T) {
	for _, files := range []console.Options{{}, {Files: fstest.MapFS{".gitkeep": {}}}} {
		w := get(t, files, "GET", "/console/providers")
		if w.Code != 200 || !strings.Contains(w.Body.String(), "make ui") || strings.Contains(w.Body.String(), "__CSP_NONCE__") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
