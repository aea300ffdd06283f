package app_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// TestOP_9_nothing_written_has_a_secret: neither the database, the last
// configuration, the spool, the log at its most talkative nor an answer, with
// requests that are served, refused, and failed by a provider that repeats
// the credential in its error. Prompts and answers are in none either.
func TestOP_9_nothing_written_has_a_secret(t *testing.T) {
	fake := gwtest.NewFake(t)
	fake.Rules(t, fakellm.Rule{BodyRE: "gpt-leak", Action: fakellm.ActionStatus, Status: 401, Body: `{"error":{"message":"PLANTED-answer: wrong key sk-key-of-a"}}`},
		fakellm.Rule{Reply: &fakellm.Reply{Text: "PLANTED-answer"}})
	dir := t.TempDir()
	c := config(dir, "seed", fake.OpenAI("a"), gwtest.Route("r", "gpt-*", "a"))
	c.Settings += "\ntelemetry: {logLevel: debug}"
	s := gwtest.StartWith(t, c)
	secrets := []string{"sk-key-of-a", gwtest.Key, gwtest.AdminToken, "PLANTED-answer", "PLANTED-prompt", "ilk_PLANTED_wrong_key_0001", "PLANTED-wrong-token-0001", "sk-PLANTED-by-the-api-0001", "sk-PLANTED-of-the-caller", "PLANTED-session"}
	var said bytes.Buffer
	prompt := func(model, stream string) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":"PLANTED-prompt"}],"stream":` + stream + `}`
	}
	for _, stream := range []string{"true", "false"} {
		s.Post(t, chatPath, prompt("gpt-5", stream))
		if got := s.Post(t, chatPath, prompt("gpt-leak", stream)); strings.Contains(got.Body, "sk-key-of-a") {
			t.Errorf("the answer repeats the credential: %s", got.Body)
		}
		said.WriteString(s.Post(t, chatPath, prompt("gpt-5", stream), "Authorization: Bearer ilk_PLANTED_wrong_key_0001").Body)
		said.WriteString(s.Post(t, chatPath+"?key=ilk_PLANTED_wrong_key_0001", prompt("gpt-5", stream), "Authorization:").Body)
		said.WriteString(s.Post(t, chatPath, "{"+prompt("gpt-5", stream)).Body)
		said.WriteString(s.Post(t, chatPath, prompt("gpt-5", stream), "Authorization:", "X-Interlock-Key: "+gwtest.Key, "X-Api-Key: sk-PLANTED-of-the-caller", "X-Interlock-Session: PLANTED-session").Body)
	}
	said.WriteString(s.Admin(t, "GET", "/providers", "", "Authorization: Bearer PLANTED-wrong-token-0001").Body)
	said.WriteString(admin(t, s, 201, "PUT", "/providers/b", `{"type":"openai","baseUrl":"http://127.0.0.1:9/v1","apiKey":"sk-PLANTED-by-the-api-0001"}`).Body)
	said.WriteString(s.Admin(t, "PUT", "/providers/c", `{"type":"anthropic","apiKey":"sk-PLANTED-by-the-api-0001"}`).Body)
	for _, path := range []string{"/providers", "/keys", "/export", "/config-versions", "/config-versions/2", "/config-versions/0/diff", "/audit-events"} {
		said.WriteString(admin(t, s, 200, "GET", path, "").Body)
	}
	kept, err := s.App.Audited(t.Context())
	if err != nil || len(kept) < 12 {
		t.Errorf("%d records, %v", len(kept), err)
	}
	for _, r := range kept { // they are compressed in the database
		said.Write(r.Data)
	}
	look := func(when string) {
		t.Helper()
		files := 0
		for _, part := range []string{"data", "db"} {
			err := filepath.WalkDir(filepath.Join(dir, part), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				files++
				said.WriteString("\n" + path + "\n")
				said.Write(b)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		said.WriteString(s.Log.String())
		for _, secret := range secrets {
			if at := bytes.Index(said.Bytes(), []byte(secret)); at >= 0 {
				t.Errorf("%s: %q is out: …%.250q", when, secret, said.Bytes()[max(0, at-150):])
			}
		}
		if files < 4 || !strings.Contains(said.String(), "sealed:v1:") {
			t.Errorf("%s: looked at %d files only", when, files)
		}
	}
	look("while it runs")
	stop(t, s)
	look("after it was stopped")
}
