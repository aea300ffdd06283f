package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

const testToken = "token-of-the-tests-0123456789"

// run runs a command against a server that a handler plays.
func run(t *testing.T, handler http.HandlerFunc, args ...string) (code int, out, errs string) {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	t.Setenv(tokenEnv, testToken)
	t.Setenv(serverEnv, srv.URL)
	var o, e strings.Builder
	code = Main(args, &o, &e)
	if strings.Contains(o.String()+e.String(), testToken) {
		t.Errorf("OP-9: the token is in the output:\n%s%s", &o, &e)
	}
	return code, o.String(), e.String()
}

func TestCL_answers_of_servers(t *testing.T) {
	problem := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for name, row := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"forbidden": {problem(403, `{"code":"forbidden","detail":"this needs the role gateway-admin; token:6789 has \"viewer\""}`), `interlock: this needs the role gateway-admin; token:6789 has "viewer"`},
		"no store":  {problem(503, `{"code":"store_unavailable","detail":"the store can't be reached now; try again"}`), "interlock: the store can't be reached now; try again"},
		"no token":  {problem(401, `{"code":"unauthenticated","detail":"x"}`), "does not accept the token in INTERLOCK_TOKEN"},
		"empty":     {problem(400, `{}`), "answered 400 Bad Request, and not as an Interlock server does"},
		"proxy":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, "answered 502 Bad Gateway"},
		"elsewhere": {http.NotFound, "has no admin API (404 Not Found)"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://other.example/x", http.StatusTemporaryRedirect)
		}, "redirects to https://other.example/x; name that server with --server"},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "can't be read; is it an Interlock server of this version?"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, "{")
		}, "read the answer of"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := run(t, row.handler, "keys", "list")
			if code != exitProblem || out != "" || !strings.Contains(errs, row.want) {
				t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
			}
		})
	}
}

func TestCL_lists_are_read_to_their_end(t *testing.T) {
	code, out, _ := run(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+testToken || r.URL.Query().Get("limit") != "500" {
			t.Errorf("%s, %s", r.URL, r.Header)
		}
		switch r.URL.Query().Get("cursor") {
		case "":
			fmt.Fprint(w, `{"items":[{"name":"a","type":"pat","last4":"aaaa","active":true}],"nextCursor":"c&1"}`)
		case "c&1":
			fmt.Fprint(w, `{"items":[{"name":"b","type":"pat","active":false}]}`)
		}
	}, "keys", "list")
	want := "NAME  TYPE  FOR  STATE      ENDS  SECRET\n" +
		"a     pat   -    active     -     …aaaa\n" +
		"b     pat   -    no secret  -     -\n"
	if code != exitOK || out != want {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// documents writes a file of documents for a test.
func documents(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "d.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCL_apply_says_what_was_applied: another change can come between the plan
// and its application.
func TestCL_apply_says_what_was_applied(t *testing.T) {
	var calls atomic.Int32
	code, out, errs := run(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/export":
			fmt.Fprint(w, `{"documents":[{"kind":"Comet","name":"of a newer server"}]}`)
		case r.URL.Query().Get("dryRun") == "true":
			calls.Add(1)
			fmt.Fprint(w, `{"changes":[{"kind":"Provider","name":"p","action":"create"}],"revision":2}`)
		default:
			calls.Add(1)
			fmt.Fprint(w, `{"changes":[{"kind":"Provider","name":"p","action":"update","fields":[{"path":"residency","after":"eu"}]}],"revision":3}`)
		}
	}, "apply", "-f", documents(t, "{kind: Provider, name: p, type: openai, residency: eu}"))
	want := "create Provider \"p\"\n\n1 to create, 0 to update, 0 to delete.\n\n" +
		"The server was changed meanwhile. This is what was applied:\nupdate Provider \"p\"\n  residency: (not set) → \"eu\"\nApplied: configuration version 3.\n"
	if code != exitOK || out != want || errs != "" || calls.Load() != 2 {
		t.Errorf("exit code %d, %d calls, errors %q, output:\n%s", code, calls.Load(), errs, out)
	}
}

// TestCL_problems_without_a_place are shown all the same.
func TestCL_problems_without_a_place(t *testing.T) {
	path := documents(t, "{kind: Provider, name: p, type: openai}")
	code, out, errs := run(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/export" {
			fmt.Fprint(w, `{"documents":[]}`)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(409)
		fmt.Fprint(w, `{"code":"in_use","detail":"x","errors":[
			{"path":"members[0].provider","message":"it uses Provider \"q\"; change it first","code":"in_use","object":{"kind":"Route","name":"r"}},
			{"path":"documents[0]","message":"whole","code":"invalid"},
			{"path":"documents[7].x","message":"no such document","code":"invalid"}]}`)
	}, "apply", "-f", path)
	want := "Route \"r\" members[0].provider: it uses Provider \"q\"; change it first\n" +
		"documents[7].x: no such document\n" +
		path + ":1:1: Provider \"p\": whole\n" +
		"\ninterlock: 3 problems in the documents; nothing was changed\n"
	if code != exitProblem || out != "" || errs != want {
		t.Errorf("exit code %d, output %q, errors:\n%s", code, out, errs)
	}
}
