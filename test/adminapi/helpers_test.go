package adminapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/dryrun"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// No test may leave a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// adminKey is the secret of a key whose answers explain themselves.
const adminKey = "ilk_test_of_an_administrator_1"

// withAdmin are documents with that key.
func withAdmin(documents ...string) []string {
	return append(documents,
		"kind: User\nname: root@example.com\nrole: gateway-admin",
		"kind: Key\nname: root\ntype: pat\nowner: {user: root@example.com}\nsecret: "+adminKey)
}

// rig is a server with its fakes.
type rig struct {
	*gwtest.Server
	t *testing.T
}

func start(t *testing.T, settings string, documents ...string) *rig {
	t.Helper()
	return &rig{gwtest.StartWith(t, gwtest.Config{Admin: true, Settings: settings, Documents: withAdmin(documents...)}), t}
}

// call calls the admin API and reads the answer, which must have a status.
func (r *rig) call(method, path, body string, status int, into any) {
	r.t.Helper()
	got := r.Admin(r.t, method, path, body)
	if got.Status != status {
		r.t.Fatalf("%s %s: %d %s", method, path, got.Status, got.Body)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(got.Body), into); err != nil {
			r.t.Fatalf("%s: %v", got.Body, err)
		}
	}
}

// problem is an error of the API.
type problem struct {
	Code, Detail string
	Errors       []struct{ Path, Message string }
	Refs         []struct{ Kind, Name string }
}

// refused calls the admin API, which must answer with an error.
func (r *rig) refused(method, path, body string, status int, code string) problem {
	r.t.Helper()
	var p problem
	r.call(method, path, body, status, &p)
	if p.Code != code {
		r.t.Errorf("%s %s: %q, want %q: %s", method, path, p.Code, code, p.Detail)
	}
	return p
}

// resolve asks the dry run.
func (r *rig) resolve(body string) *dryrun.Answer {
	r.t.Helper()
	a := &dryrun.Answer{}
	r.call(http.MethodPost, "/routing/resolve", body, http.StatusOK, a)
	return a
}

// ask sends a request with the administrator's key. It answers the plan in a
// line and the id of the request.
func (r *rig) ask(path, body string, headers ...string) (line, id string) {
	r.t.Helper()
	headers = append([]string{"Authorization: Bearer " + adminKey, "X-Interlock-Explain: true"}, headers...)
	got := r.Post(r.t, path, body, headers...)
	if got.Status >= 500 && got.Header.Get("X-Interlock-Request-Id") == "" {
		r.t.Fatalf("%d %s", got.Status, got.Body)
	}
	line, err := url.PathUnescape(got.Header.Get("X-Interlock-Decision")) // what is not ASCII is escaped
	if err != nil {
		r.t.Fatal(err)
	}
	return line, got.Header.Get("X-Interlock-Request-Id")
}

// decision is what is kept of a request.
type decision struct {
	Record    audit.Record
	Plan      *routing.Plan
	PlanError string
}

// decided reads what is kept of a request.
func (r *rig) decided(id string) decision {
	r.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		var d decision
		got := r.Admin(r.t, http.MethodGet, "/decisions/"+id, "")
		if got.Status == http.StatusOK {
			if err := json.Unmarshal([]byte(got.Body), &d); err != nil {
				r.t.Fatalf("%s: %v", got.Body, err)
			}
			return d
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("no record of %s: %d %s", id, got.Status, got.Body)
		}
	}
}

// passthrough is a Provider document without a key.
func passthrough(name, url string) string {
	return "kind: Provider\nname: " + name + "\ntype: anthropic\nbaseUrl: " + url
}

// chatOf and messageOf are small requests, without a size that matters.
func chatOf(model string) string    { return gwtest.Chat(model, false) }
func messageOf(model string) string { return gwtest.Message(model, false) }

// tokens is the size that the gateway takes a body for.
func tokens(body string) string { return fmt.Sprintf(`"promptTokens":%d`, len(body)/4) }
