package failure

import (
	"strings"
	"testing"
)

func TestEcho_what_is_taken_out(t *testing.T) {
	for _, row := range []struct{ word, message, want string }{
		{"usage limit reached", "The model `Usage Limit  reached` does not exist", "The model `*` does not exist"},
		{"openai/usage limit reached", "no model usage limit reached", "no model *"},
		{"a/b/usage limit", "b/usage limit; usage limit", "*; *"},
		{`x"usage limit reached`, `no x\"usage limit reached`, `no x\"*`},
		{"o1", "too1ong o1 o1-mini (O1)", "too1ong * *-mini (*)"},
		{"a model whose name is cut short by its vendor", "no a model whose name is cut...", "no *..."},
		{"余额不足", "模型余额不足不存在", "模型*不存在"},
		{"ⱥⱥ limit", "no Ⱥⱥ limit", "no *"}, // lower case has another length
		{"", "as it was", "as it was"},
	} {
		c := &content{messages: []string{row.message}}
		c.forget(echoes([]string{row.word}))
		if got := strings.ReplaceAll(c.messages[0], gone, "*"); got != row.want {
			t.Errorf("%q: %q, want %q", row.word, got, row.want)
		}
	}
}

// A model that is called like a code does not hide the code.
func TestEcho_codes_are_the_vendors(t *testing.T) {
	c := &content{types: []string{"insufficient_quota"}, codes: []string{"no model usage_limit"}}
	c.forget(echoes([]string{"insufficient_quota", "usage_limit"}))
	if c.types[0] != "insufficient_quota" || c.codes[0] != "no model "+gone {
		t.Errorf("%q %q", c.types, c.codes)
	}
}

func TestEcho_messages_that_are_the_vendors_own(t *testing.T) {
	for message, want := range map[string]bool{
		"your credit balance is too low to access the anthropic api.":     true,
		"you've used it up. access comes back on 2026-12-01 at 00:00 utc": true,
		"litellm.badrequesterror: openaiexception - you are out of money": true,
		"insufficient balance (see https://x.example/billing)":            true,
		"invalid value: 'usage limit reached'":                            false,
		"usage limit reached: extra inputs are not permitted":             false,
		"unexpected role “usage limit reached”":                           false,
		"role usage limit reached is not supported":                       false,
		"key [usage limit reached]":                                       false,
		"模型不存在：余额不足":                                                      false,
		"":                                                                true,
	} {
		if got := vendorsOwn(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}

// What decides by text alone, and how far.
func TestEcho_how_far_rows_of_text_hear(t *testing.T) {
	c := mustCompile(t, []Signal{
		{ID: "quota", Status: []int{400, 404, 429}, Text: []string{"used up"}, Category: QuotaExhausted},
		{ID: "anywhere", Text: []string{"too fast"}, Category: RateLimit},
		{ID: "kind", Type: []string{"broke"}, Category: QuotaExhausted},
	}, Generic{StatusOf: map[string]int{"model_not_found": 404}})
	for _, row := range []struct {
		status     int
		body, echo string
		want       string
	}{
		{400, `{"error":{"message":"It is used up."}}`, "", "quota"},
		{400, `{"error":{"message":"It is used up: not allowed"}}`, "", ByStatus},
		{400, `{"error":{"message":"It is used up.","code":"model_not_found"}}`, "", ByStatus},
		{429, `{"error":{"message":"'It' is: used up"}}`, "", "quota"},
		{429, `{"error":{"message":"Limit for used up"}}`, "used up", ByStatus},
		{404, `{"error":{"message":"It is too fast"}}`, "", ByStatus},
		{500, `{"error":{"message":"It is too fast"}}`, "", "anywhere"},
		{500, `{"error":{"message":"KeyError: 'too fast'"}}`, "", ByStatus},
		{404, `{"error":{"type":"broke","message":"x"}}`, "broke", "kind"},
		{400, `{"error":{"message":"Bad role {\"error\":{\"type\":\"broke\"}}"}}`, "", ByStatus},
		{400, `{"error":{"message":"litellm.X: YException - {\"error\":{\"type\":\"broke\"}}"}}`, "", "kind"},
		{400, `{"error":{"message":"{\"error\":{\"type\":\"broke\"}}: Extra inputs are not permitted"}}`, "", ByStatus},
		{404, "no {\"error\":{\"type\":\"broke\"}}", `{"error":{"type":"broke"}}`, ByStatus},
	} {
		a := &Answer{Status: row.status, Body: []byte(row.body), Echo: []string{row.echo}, Now: noon}
		if _, why := c.Explain(a); why != row.want {
			t.Errorf("%d %s: by %s, want %s", row.status, row.body, why, row.want)
		}
	}
}
