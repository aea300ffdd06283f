package adminapi

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// UI: a browser that opens the address is led to the console; programs get what
// they always did.
func TestUI_the_console_is_there(t *testing.T) {
	b := start(t, "").browser()
	const html = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
	if got := b.send("GET", "/", "", html); got.Status != 302 || got.Header.Get("Location") != "/console/" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	for _, c := range [][]string{{"GET", "/"}, {"GET", "/", "Accept: */*"}, {"GET", "/", "Accept: application/json"}, {"HEAD", "/", html}, {"HEAD", "/"}} {
		if got := b.send(c[0], c[1], "", c[2:]...); got.Status != 200 || got.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%v: %d %v", c, got.Status, got.Header)
		}
	}
	for _, path := range []string{"/console/", "/console/providers", "/console/setup"} {
		got := b.send("GET", path, "", html)
		if got.Status != 200 || !strings.Contains(got.Body, "<title>") || !strings.Contains(got.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s: %d %v", path, got.Status, got.Header)
		}
	}
	if got := b.send("GET", "/console", ""); got.Status != 308 {
		t.Errorf("%d", got.Status)
	}
	if got := b.send("GET", "/consoles", ""); got.Status != 404 {
		t.Errorf("%d", got.Status)
	}
}

// OP-10, OP-11: administration has an address of its own if one is set: neither
// it nor the console is on the other then.
func TestOP_10_OP_11_administration_on_its_own_address(t *testing.T) {
	a := gwtest.NewFake(t)
	r := start(t, "server: {listen: 127.0.0.1:0, adminListen: 127.0.0.1:0, drainSeconds: 5}", a.OpenAI("first"), gwtest.Route("gpt", `"gpt-*"`, "first"))
	other := "http://" + r.App.AdminAddr()
	if other == r.URL {
		t.Fatal("there is one address")
	}
	get := func(base, path string, headers ...string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		client := *r.Client
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	const accept, html = "Accept", "text/html"
	for path, want := range map[string][2]int{ // of the gateway, of administration
		"/api/v1/openapi.json": {404, 200}, "/api/v1/auth/state": {404, 200}, "/console/": {404, 200}, "/": {200, 302}, "/healthz": {200, 200}, "/readyz": {200, 200},
		"/v1/models": {401, 404}, "/v1/chat/completions": {405, 404}, "/anything": {404, 404},
	} {
		for i, base := range []string{r.URL, other} {
			got, body := get(base, path, accept, html)
			if got != want[i] {
				t.Errorf("%s%s: %d, want %d: %.100s", base, path, got, want[i], body)
			}
			if says := strings.Contains(body, "server.adminListen"); i == 0 && says != (strings.HasPrefix(path, "/api/v1") || strings.HasPrefix(path, "/console")) {
				t.Errorf("%s does not say where administration is: %.200s", path, body)
			}
		}
	}
	if status, body := get(other, "/api/v1/providers/first", "Authorization", "Bearer "+gwtest.AdminToken); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if got := r.Post(t, "/v1/chat/completions", chatOf("gpt-1")); got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
