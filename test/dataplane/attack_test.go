package dataplane

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/gateway"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// A base URL with a slash at its end, or a doubled one, is common and harmless.
func TestRQ_EP_doubled_slashes_are_one(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := gwtest.Start(t, a.OpenAI("only"))
	for _, path := range []string{"//v1/chat/completions", "/v1//chat/completions", "///v1///chat///completions"} {
		if got := gw.Post(t, path, gwtest.Chat("gpt-5", false)); got.Status != 200 {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	if got := gw.Post(t, "/v1/../v1/chat/completions", gwtest.Chat("gpt-5", false)); got.Status != 404 || !strings.Contains(got.Body, "not_found") {
		t.Errorf("dots in the path: %d %s", got.Status, got.Body)
	}
}

// OP-9: a client that sends its key as the model must not spread it.
func TestOP_9_a_key_in_place_of_the_model_is_shown_nowhere(t *testing.T) {
	a := gwtest.NewFake(t)
	gw := gwtest.Start(t, a.OpenAI("only", `modelPatterns: ["*"]`))
	for _, key := range []string{gwtest.Key, "sk-ant-api03-0123456789", "sess_0123456789abcdef"} {
		got := gw.Post(t, "/v1/chat/completions", gwtest.Chat(key, false))
		if got.Status != 400 || strings.Contains(got.Body, key) || strings.Contains(fmt.Sprint(got.Header), key) || strings.Contains(gw.Log.String(), key) {
			t.Errorf("%s: %d %s", key, got.Status, got.Body)
		}
	}
	if a.Requests() > 0 {
		t.Error("a key was sent to a provider as a model")
	}
}

// OP-6: a request that can't be recorded is not served, and nothing is dialled
// and paid for it; readiness says so.
func TestOP_6_nothing_is_dialled_while_records_cannot_be_kept(t *testing.T) {
	a := gwtest.NewFake(t)
	gw, _ := serveWith(t, gateway.Options{CanRecord: func() error { return errors.New("the disk is full") }}, a.OpenAI("only"))
	for _, stream := range []bool{false, true} {
		got := gw.Post(t, "/v1/chat/completions", gwtest.Chat("gpt-5", stream))
		if got.Status != 503 || got.Header.Get("Retry-After") != "1" || !strings.Contains(got.Body, "recorded") {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	if a.Requests() > 0 {
		t.Error("a provider was dialled for an answer that could not be given")
	}
	if got := gw.Do(t, http.MethodGet, "/readyz", ""); got.Status != 503 {
		t.Errorf("ready: %d", got.Status)
	}
}

// OP-9: what the gateway keeps for itself can't be named as a provider's key,
// which is sent to whatever URL stands beside it.
func TestOP_9_references_do_not_reach_the_gateways_own_secrets(t *testing.T) {
	dir := t.TempDir()
	a := gwtest.NewFake(t)
	gw := gwtest.StartWith(t, gwtest.Config{Dir: dir, Admin: true, Documents: []string{a.OpenAI("only")}})
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "data", "master.key"), link); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"env:INTERLOCK_ADMIN_TOKEN", "env:INTERLOCK_MASTER_KEY", "file:" + filepath.Join(dir, "data", "master.key"), "file:" + link} {
		got := gw.Admin(t, http.MethodPut, "/providers/thief", fmt.Sprintf(`{"type":"openai","baseUrl":"http://127.0.0.1:9/v1","apiKey":%q}`, ref))
		if got.Status != 400 {
			t.Errorf("%s: %d %s", ref, got.Status, got.Body)
		}
	}
}

// OP-5: half a body holds nothing for ever. The limit is 30 s, so the test
// looks only that it is set where no handler reads the body.
func TestOP_5_a_wrong_key_with_half_a_body_is_answered_at_once(t *testing.T) {
	gw := gwtest.Start(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(gw.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ilk_wrong_wrong_wrong_wrong\r\nContent-Length: 100\r\n\r\n{")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !resp.Close {
		t.Fatalf("%v %v", resp, err)
	}
	resp.Body.Close()
}
