package dataplane

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
	"github.com/interlock-gateway/interlock/internal/testutil/issuertest"
)

// ci is an issuer that a gateway trusts, with its key.
type ci struct {
	*issuertest.Issuer
	key *issuertest.Key
}

func newCI(t *testing.T) *ci {
	t.Helper()
	key := issuertest.NewKey(t, "k", "ES256")
	return &ci{issuertest.New(t, key), key}
}

// token is a token that holds for anna, who runs the workflow review.
func (c *ci) token(t *testing.T, more map[string]any) string {
	t.Helper()
	claims := c.Claims("interlock", map[string]any{"actor": "anna", "workflow": "review", "owner": "acme"})
	maps.Copy(claims, more)
	return c.key.Sign(t, claims)
}

// trusting starts a rig that trusts the issuer under the name github.
func (c *ci) trusting(t *testing.T, w *way, documents ...string) *rig {
	t.Helper()
	r := &rig{way: w, fake: gwtest.NewFake(t)}
	for i, d := range documents {
		if m := providerName.FindStringSubmatch(d); m != nil {
			r.names = append(r.names, m[1])
		}
		documents[i] = strings.ReplaceAll(d, theFake, r.fake.URL)
	}
	r.Server = gwtest.StartWith(t, gwtest.Config{
		Documents: documents, Env: map[string]string{"ADMIN": gwtest.AdminToken},
		Settings: fmt.Sprintf("telemetry: {logLevel: debug}\nauth:\n  adminTokens: [env:ADMIN]\n  trustedIssuers:\n"+
			"    - {name: github, issuer: %q, audience: interlock, require: {owner: acme}, claims: {user: actor, workload: workflow}}", c.URL),
	})
	r.script(t)
	return r
}

// wantNoToken looks for a token, or a part of one, where it must not be.
func (r *rig) wantNoToken(t *testing.T, token string) {
	t.Helper()
	parts := strings.Split(token, ".")
	for _, rec := range r.fake.Records() {
		for _, part := range parts[1:] {
			if part != "" && strings.Contains(observed(&rec), part) {
				t.Errorf("%s received the token: %s", memberOf(&rec), observed(&rec))
			}
		}
	}
	for _, part := range parts[1:] {
		if part != "" && strings.Contains(r.Log.String(), part) {
			t.Error("the log has the token")
		}
	}
}

func TestRQ_CRED_jwt_of_a_trusted_issuer(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		c := newCI(t)
		r := c.trusting(t, w, w.pass("pass"), w.org("ours"), w.pool("", "pass", "ours"))
		token := c.token(t, nil)
		for _, place := range slices.DeleteFunc(places(), func(p string) bool { return p == "X-Interlock-Key" }) {
			for _, foreign := range append(places(), "") {
				if foreign == place || foreign == "X-Interlock-Key" {
					continue
				}
				t.Run(place+"_beside_"+foreign, func(t *testing.T) {
					r.script(t)
					got := r.presented(t, map[string]string{place: token, foreign: w.callerKey()}, "X-Interlock-User: root", "X-Interlock-Source: service")
					r.wantServed(t, got, "ours", 1)
					r.wantCredentials(t, "ours:own")
					r.wantNoToken(t, token)
					rec := r.record(t, got)
					if want := (audit.Caller{User: "anna", Source: "github", Workload: "review"}); rec.Caller != want || rec.Credential != "own" {
						t.Errorf("caller %+v, credential %q", rec.Caller, rec.Credential)
					}
				})
			}
		}
		if n := c.Fetches.Load(); n != 1 {
			t.Errorf("the keys were fetched %d times", n)
		}
	})
}

// A user who is disabled is turned away with a token as with a key.
func TestRQ_CRED_RS_ORG_jwt_of_a_disabled_user(t *testing.T) {
	w := chats()[0]
	c := newCI(t)
	r := c.trusting(t, w, w.org("ours"), w.pool("", "ours"), "kind: User\nname: Anna\nenabled: false")
	got := r.presented(t, map[string]string{"Authorization": c.token(t, nil)})
	if e := r.wantCode(t, got, 401, "invalid_api_key"); !strings.Contains(e.Message, "disabled") {
		t.Errorf("%s", e.Message)
	}
	r.wantDials(t)
}

// Beside an Interlock key the token is nobody, and still nothing for a provider.
func TestRQ_CRED_jwt_beside_an_Interlock_key(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		c := newCI(t)
		r := c.trusting(t, w, w.pass("pass"), w.org("ours"), w.pool("", "pass", "ours"), anonymous)
		token := c.token(t, nil)
		stale := c.token(t, map[string]any{"exp": 1})
		huge := c.token(t, map[string]any{"x": strings.Repeat("x", 100_000)})
		other := "X-Api-Key"
		if w.keyHeader == other {
			other = "Authorization"
		}
		for _, k := range []struct {
			name string
			at   map[string]string
			by   string
			key  string
		}{
			{"the key wins", map[string]string{"Authorization": token, "X-Api-Key": gwtest.Key}, "ours:own", "test"},
			{"in either header", map[string]string{"Authorization": gwtest.Key, "X-Goog-Api-Key": token}, "ours:own", "test"},
			{"an expired token is nothing either", map[string]string{"X-Interlock-Key": gwtest.Key, "Authorization": stale}, "ours:own", "test"},
			{"nor a huge one", map[string]string{"X-Interlock-Key": gwtest.Key, "Authorization": huge}, "ours:own", "test"},
			{"our header has the key", map[string]string{"X-Interlock-Key": gwtest.Key, "Authorization": token}, "ours:own", "test"},
			{"in the query", map[string]string{"X-Interlock-Key": gwtest.Key, "?key": token}, "ours:own", "test"},
			{"a foreign one beside both", map[string]string{"X-Interlock-Key": gwtest.Key, w.keyHeader: w.callerKey(), other: token}, "pass:caller", "test"},
			{"a foreign one is ignored", map[string]string{"Authorization": token, "X-Api-Key": w.callerKey()}, "ours:own", ""},
			{"a foreign one alone", map[string]string{w.keyHeader: w.callerKey()}, "pass:caller", ""},
		} {
			t.Run(k.name, func(t *testing.T) {
				r.script(t)
				got := r.presented(t, k.at)
				by, _, _ := strings.Cut(k.by, ":")
				r.wantServed(t, got, by, 1)
				r.wantCredentials(t, k.by)
				for _, v := range []string{token, stale, huge} {
					r.wantNoToken(t, v)
				}
				if rec := r.record(t, got); rec.Caller.Key != k.key {
					t.Errorf("caller %+v", rec.Caller)
				}
			})
		}
		t.Run("a JWT of somebody else stays a foreign credential", func(t *testing.T) {
			r.script(t)
			oauth := newCI(t).token(t, nil)
			if got := r.presented(t, map[string]string{"Authorization": oauth}); got.Status != 200 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			recs := r.fake.Records()
			if len(recs) != 1 || memberOf(&recs[0]) != "pass" || strings.Join(recs[0].Headers["Authorization"], "|") != "Bearer "+oauth {
				t.Errorf("%v", recs)
			}
		})
	})
}

func TestRQ_CRED_jwt_that_is_wrong(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		c := newCI(t)
		r := c.trusting(t, w, w.org("ours"), w.pass("pass"), w.pool("", "pass", "ours"), anonymous)
		good := c.Claims("interlock", map[string]any{"actor": "anna", "owner": "acme"})
		stranger := issuertest.NewKey(t, "k", "ES256")
		for _, k := range []struct{ name, token, word string }{
			{"expired", c.token(t, map[string]any{"exp": 1}), "expired"},
			{"another audience", c.token(t, map[string]any{"aud": "billing"}), "not for this gateway"},
			{"another owner", c.token(t, map[string]any{"owner": "mallory"}), "not let in"},
			{"another key", stranger.Sign(t, good), "wrong signature"},
			{"alg none", issuertest.Unsigned(t, good), "wrong form"},
			{"a shared secret", issuertest.SharedSecret(t, "k", []byte("k"), good), "wrong form"},
			{"100 KB", c.token(t, map[string]any{"x": strings.Repeat("x", 100_000)}), "bytes long"},
		} {
			t.Run(k.name, func(t *testing.T) {
				r.script(t)
				// The other credential would do alone: nobody is let in as less than
				// they claim to be.
				got := r.presented(t, map[string]string{"Authorization": k.token, "X-Goog-Api-Key": foreignGoogle})
				e := r.wantCode(t, got, 401, "invalid_api_key")
				if !strings.Contains(e.Message, k.word) || !strings.Contains(e.Message, `"github"`) {
					t.Error(e.Message)
				}
				r.wantDials(t)
				r.wantNoToken(t, k.token)
				for _, part := range strings.Split(k.token, ".")[1:] {
					if part != "" && strings.Contains(got.Body, part) {
						t.Errorf("the answer has the token: %s", got.Body)
					}
				}
				if rec := r.record(t, got); rec.Outcome != audit.OutcomeDeny || rec.Policy != "auth" || rec.Caller != (audit.Caller{}) {
					t.Errorf("%+v", rec)
				}
			})
		}
	})
}

// Wrong tokens are guesses like wrong keys.
func TestRQ_CRED_jwt_guesses_are_slowed_down(t *testing.T) {
	w := ways()[0]
	c := newCI(t)
	r := c.trusting(t, w, w.org("ours"), w.pool("", "ours"))
	stranger := issuertest.NewKey(t, "k", "ES256")
	bad := stranger.Sign(t, c.Claims("interlock", nil))
	for range 20 {
		r.wantCode(t, r.presented(t, map[string]string{"Authorization": bad}), 401, "invalid_api_key")
	}
	if got := r.presented(t, map[string]string{"Authorization": bad}); got.Status != 429 || got.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	r.wantServed(t, r.presented(t, map[string]string{"Authorization": c.token(t, nil)}), "ours", 1)
}

// An issuer that is away is no reason to sign in again: 503, and the gateway
// had started without it.
func TestRQ_CRED_RQ_503_jwt_while_the_issuer_is_away(t *testing.T) {
	c := newCI(t)
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			mine := &ci{issuertest.New(t, c.key), c.key}
			mine.Mood(503, 0)
			r := mine.trusting(t, w, w.org("ours"), w.pool("", "ours"))
			token := mine.token(t, nil)
			for range 30 { // more than the guard lets wrong keys do
				got := r.presented(t, map[string]string{"Authorization": token})
				e := r.wantCode(t, got, 503, "gateway_unavailable")
				if !strings.Contains(e.Message, `"github"`) || got.Header.Get("X-Should-Retry") != "" {
					t.Errorf("%s %v", e.Message, got.Header)
				}
				if s := got.Header.Get("Retry-After"); s != "1" && s != "2" && s != "3" {
					t.Errorf("retry after %q", s)
				}
			}
			r.wantDials(t)
			first := r.presented(t, map[string]string{"Authorization": gwtest.Key})
			r.wantServed(t, first, "ours", 1) // keys need no issuer
			r.wantCode(t, r.presented(t, map[string]string{"Authorization": mine.token(t, map[string]any{"exp": 1})}), 401, "invalid_api_key")
			mine.Mood(200, 0)
			for deadline := time.Now().Add(15 * time.Second); ; {
				got := r.presented(t, map[string]string{"Authorization": token})
				if got.Status == 200 {
					break
				}
				if got.Status != 503 || time.Now().After(deadline) {
					t.Fatalf("%d %s", got.Status, got.Body)
				}
				<-time.After(100 * time.Millisecond)
			}
			r.wantNoToken(t, token)
			// A flood of them does not fill the audit.
			r.record(t, first) // and so is what came before it
			var page struct {
				Items []struct {
					Outcome string
					Status  int
				}
			}
			rows := r.Admin(t, http.MethodGet, "/audit-events?code=gateway_unavailable&kind=request&limit=100", "")
			if err := json.Unmarshal([]byte(rows.Body), &page); err != nil || len(page.Items) != 20 {
				t.Errorf("want 20 records of tokens that could not be verified: %v %s", err, rows.Body)
			}
			for _, i := range page.Items {
				if i.Outcome != audit.OutcomeError || i.Status != 503 {
					t.Errorf("%+v", i)
				}
			}
			if log := r.Log.String(); !strings.Contains(log, "can't be fetched") || !strings.Contains(log, "can be fetched again") {
				t.Error(log)
			}
		})
	}
}

// Model lists are for whoever may ask for the models.
func TestRQ_CRED_jwt_lists_models(t *testing.T) {
	w := ways()[0]
	c := newCI(t)
	r := c.trusting(t, w, w.org("ours", "staticModels: [claude-test]"), w.pool("", "ours"))
	got := r.Do(t, http.MethodGet, "/v1/models", "", "Authorization: Bearer "+c.token(t, nil))
	if got.Status != 200 || !strings.Contains(got.Body, `"claude-test"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := r.Do(t, http.MethodGet, "/v1/models", "", "Authorization: Bearer "+c.token(t, map[string]any{"exp": 1})); got.Status != 401 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
