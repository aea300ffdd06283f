package admin_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/admin"
)

// deadlines notes the limits that a body gets.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error { d.set = append(d.set, t); return nil }

// AP: the limit of a body's arrival ends with its arrival. It would cancel what
// takes as long, such as a test of a provider.
func TestAP_a_slow_answer_is_not_canceled(t *testing.T) {
	e := newEnv(t)
	for _, body := range []string{"", `{"model":"m"}`} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), "POST", admin.Prefix+"/providers/gone/test", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+adminToken)
		e.handler.ServeHTTP(w, r)
		if w.Code != 404 && w.Code != 503 || len(w.set) < 2 || !w.set[len(w.set)-1].IsZero() {
			t.Errorf("%d, %v", w.Code, w.set)
		}
	}
}

// AP: what is nested too deeply is called that, wherever it is read.
func TestAP_nested_too_deeply(t *testing.T) {
	e := newEnv(t)
	deep := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	for _, c := range [][3]string{
		{"POST", "/routing/resolve", `{"model":"m","draft":[{"kind":"Route","x":` + deep + `}]}`},
		{"POST", "/routing/resolve", `{"model":"m","params":{"x":` + deep + `}}`},
		{"PUT", "/providers/p", `{"type":"openai","headers":` + deep + `}`},
		{"POST", "/import", `{"documents":[{"kind":"Route","x":` + deep + `}]}`},
	} {
		if p := e.admin(c[0], c[1], c[2]).code(400, "invalid").problem(); !strings.Contains(p.Detail, "nested too deeply") {
			t.Errorf("%s %s: %s", c[0], c[1], p.Detail)
		}
	}
	text := `{"model":"m","params":{"x":"` + strings.Repeat(`[\"`, 10_001) + `"},,}`
	if p := e.admin("POST", "/routing/resolve", text).code(400, "invalid").problem(); !strings.Contains(p.Detail, "malformed at byte") {
		t.Errorf("%s", p.Detail)
	}
}
