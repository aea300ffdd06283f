package issuer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/auth/issuer"
	"github.com/interlock-gateway/interlock/internal/testutil/issuertest"
)

// github and kubernetes are the claims of real tokens, shortened.
func github() map[string]any {
	return map[string]any{
		"sub": "repo:acme/shop:environment:prod", "actor": "anna", "repository": "acme/shop", "repository_owner": "acme",
		"workflow": "review", "ref": "refs/heads/main", "environment": "prod", "run_id": "42", "run_attempt": 1, "ref_protected": true,
	}
}

func kubernetes() map[string]any {
	return map[string]any{
		"sub": "system:serviceaccount:payments:scorer",
		"kubernetes.io": map[string]any{
			"namespace": "payments", "pod": map[string]any{"name": "scorer-7d9", "uid": "u"}, "serviceaccount": map[string]any{"name": "scorer", "uid": "u"},
		},
	}
}

func TestVerify_RQ_CRED_claims_become_the_caller(t *testing.T) {
	key := issuertest.NewKey(t, "k", "ES256")
	from := issuertest.New(t, key)
	for _, c := range []struct {
		name   string
		claims map[string]any
		by     issuer.Claims
		want   auth.Identity
	}{
		{"nothing is mapped but sub", github(), issuer.Claims{}, auth.Identity{User: "repo:acme/shop:environment:prod"}},
		{
			"GitHub", github(), issuer.Claims{
				User: "actor", Workload: "workflow", Groups: "repository_owner",
				Labels: map[string]string{"repository": "repository", "branch": "ref", "env": "environment", "try": "run_attempt", "protected": "ref_protected", "none": "nothing"},
			}, auth.Identity{
				User: "anna", Workload: "review", Groups: []string{"acme"},
				Labels: map[string]string{"repository": "acme/shop", "branch": "refs/heads/main", "env": "prod", "try": "1", "protected": "true"},
			},
		},
		{
			"Kubernetes", kubernetes(), issuer.Claims{
				Namespace: "kubernetes.io.namespace", ServiceAccount: "kubernetes.io.serviceaccount.name", Workload: "kubernetes.io.pod.name", Agent: "kubernetes.io.agent",
			}, auth.Identity{User: "system:serviceaccount:payments:scorer", Namespace: "payments", ServiceAccount: "scorer", Workload: "scorer-7d9"},
		},
		{
			"a name with dots before a path",
			map[string]any{"a.b": "name", "a": map[string]any{"b": "path", "c": "deep"}, "https://x.example/groups": []string{"g", "", "h"}},
			issuer.Claims{User: "a.b", Agent: "a.c", Groups: "https://x.example/groups"},
			auth.Identity{User: "name", Agent: "deep", Groups: []string{"g", "h"}},
		},
		{
			"a longer name before a shorter one",
			map[string]any{"a": map[string]any{"b.c": "1"}, "a.b": map[string]any{"c": "2"}},
			issuer.Claims{User: "a.b.c"},
			auth.Identity{User: "2"},
		},
		{
			"a dead end",
			map[string]any{"a": map[string]any{"b": map[string]any{"c": "1"}}, "a.b": "no object"},
			issuer.Claims{User: "a.b.c"},
			auth.Identity{User: "1"},
		},
		{"null is not there", map[string]any{"agent": nil, "groups": nil}, issuer.Claims{Agent: "agent", Groups: "groups"}, auth.Identity{User: "someone"}},
		{"one group", map[string]any{"g": "a, b"}, issuer.Claims{Groups: "g"}, auth.Identity{User: "someone", Groups: []string{"a, b"}}},
		{"other letters", map[string]any{"sub": "Åsa Öberg 李"}, issuer.Claims{}, auth.Identity{User: "Åsa Öberg 李"}},
		{"as long as may be", map[string]any{"sub": strings.Repeat("x", 1024)}, issuer.Claims{}, auth.Identity{User: strings.Repeat("x", 1024)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := newSet(t, from.URL, claims(c.by))
			c.want.Issuer = "acme"
			got := wantGood(t, s, key.Sign(t, from.Claims(audience, c.claims)))
			if d := cmp.Diff(&c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A claim that can't be used refuses the token: cut or left out it could be
// somebody else's name, or what a denial hangs on.
func TestVerify_RQ_CRED_claims_that_cannot_be_used(t *testing.T) {
	key := issuertest.NewKey(t, "k", "ES256")
	from := issuertest.New(t, key)
	many := make([]string, 257)
	for i := range many {
		many[i] = "g"
	}
	s, _ := newSet(t, from.URL, claims(issuer.Claims{User: "user", Groups: "groups", Labels: map[string]string{"l": "label"}}))
	for name, more := range map[string]map[string]any{
		"no user":              {},
		"an empty user":        {"user": ""},
		"a user that is null":  {"user": nil},
		"a user that is a map": {"user": map[string]any{"name": "x"}},
		"a list of users":      {"user": []string{"x"}},
		"a long user":          {"user": strings.Repeat("x", 1025)},
		"a new line":           {"user": "x\ny"},
		"a zero":               {"user": "x\x00"},
		"a change of sides":    {"user": "x\u202ey"},
		"nothing one can see":  {"user": "x\u200by"},
		"no UTF-8":             {"user": "\ufffd"},
		"a label that is none": {"user": "x", "label": []string{"a"}},
		"a long label":         {"user": "x", "label": strings.Repeat("x", 1025)},
		"groups that are none": {"user": "x", "groups": map[string]any{"a": "b"}},
		"a group that is none": {"user": "x", "groups": []any{"a", []string{"b"}}},
		"a group that is null": {"user": "x", "groups": []any{"a", nil}},
		"too many groups":      {"user": "x", "groups": many},
		"a group with a tab":   {"user": "x", "groups": []string{"a\tb"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, s, key.Sign(t, from.Claims(audience, more)), "claim")
		})
	}
}
