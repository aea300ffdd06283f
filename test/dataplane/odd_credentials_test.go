package dataplane

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// askAt asks with a credential as one header line, or as the query parameter
// key.
func (r *rig) askAt(t *testing.T, line string, more ...string) gwtest.Answer {
	t.Helper()
	path, headers := r.way.path, append([]string{"Authorization:"}, more...)
	if q, ok := strings.CutPrefix(line, "?"); ok {
		path += "?" + q
	} else {
		headers = append(headers, line)
	}
	return r.Post(t, path, r.way.ask(r.way.stream), headers...)
}

// Interlock keys as clients write them that are set up a little wrongly: a
// stranger may come in here, and one with a key brings its own credential, so
// all that is not seen to be ours goes to a provider.
func TestRQ_CRED_1_oddly_written_keys(t *testing.T) {
	k := gwtest.Key
	meant := []string{
		"X-Api-Key: Bearer " + k, "Api-Key: bearer " + k, "X-Goog-Api-Key: Bearer\t" + k, "Authorization: Bearer\t" + k, "Authorization: Bearer Bearer " + k,
		"Authorization: " + k, "?key=Bearer%20" + k, "?key=Bearer%09" + k,
	}
	odd := map[string][]string{
		"authorization": {
			"Authorization: Token " + k, "Authorization: Basic " + k, "Authorization: Bearer \"" + k + "\"", "Authorization: Bearer foo, Bearer " + k,
			"Authorization: Bearer\xa0" + k, "Authorization: Bearer" + k, "Authorization: Bearer Token " + k, "Authorization: Token token=" + k,
			"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(k+":")), "Authorization: Bearer sk-foo;" + k,
		},
		"x-api-key":               {"X-Api-Key: '" + k + "'", "X-Api-Key: Token " + k},
		"api-key":                 {"Api-Key: key=" + k},
		"x-goog-api-key":          {"X-Goog-Api-Key: <sess_0123456789abcdef>"},
		"the query parameter key": {"?key=%22" + k + "%22", "?key=Bearer%2520" + k},
	}
	eachWay(t, func(t *testing.T, w *way) {
		for name, beside := range map[string][]string{"alone": nil, "beside_a_key": {"X-Interlock-Key: " + k}} {
			t.Run(name, func(t *testing.T) {
				r := mixed(t, w, anonymous)
				for _, line := range meant {
					r.script(t)
					r.wantServed(t, r.askAt(t, line, beside...), "ours", 1)
					r.wantCredentials(t, "ours:own")
				}
				r.script(t)
				for place, lines := range odd {
					for _, line := range lines {
						got := r.askAt(t, line, beside...)
						e := w.mustError(t, got.Body)
						if got.Status == 429 { // so many are taken for guesses
							continue
						}
						if got.Status != 401 || e.code() != "invalid_api_key" || !strings.Contains(e.Message, ": "+place+" ") && !strings.HasPrefix(e.Message, place+" ") {
							t.Errorf("%q: %d %s", line, got.Status, got.Body)
						}
						shows(t, "the answer", fmt.Sprint(got.Header)+got.Body, []string{k})
					}
				}
				r.wantDials(t)
				shows(t, "the log", r.Log.String(), []string{k})
			})
		}
	})
}

// A scheme alone and a signature in any letters say nothing and go nowhere.
func TestRQ_CRED_1_no_credential_at_all(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		r := mixed(t, w, anonymous)
		for _, line := range []string{"Authorization: Bearer", "X-Api-Key: Bearer", "Authorization: Basic", "Authorization: " + strings.ToLower(foreignSigV4), "?key=a%0d%0ab"} {
			r.script(t)
			if got := r.askAt(t, line); got.Status != 401 {
				t.Errorf("%s: %d %s", line, got.Status, got.Body)
			}
			r.wantDials(t)
			r.wantServed(t, r.askAt(t, line, "X-Interlock-Key: "+gwtest.Key), "ours", 1)
			r.wantCredentials(t, "ours:own")
		}
	})
}

// A key in a query parameter that passes is dropped like one in a header.
func TestRQ_CRED_1_parameters_that_pass(t *testing.T) {
	for _, w := range ways()[:3] {
		r := mixed(t, w)
		r.wantServed(t, r.Post(t, w.path+"?beta="+gwtest.Key, w.ask(w.stream)), "ours", 1)
		r.wantCredentials(t, "ours:own")
		if q := r.fake.Records()[0].Query; q != "" {
			t.Error(q)
		}
	}
}

// echoes are answers of a provider that repeats the key it was sent: in the
// error's code, its message and the headers that pass.
func echoes(w *way, key string) map[string]fakellm.Rule {
	long := strings.Repeat("x", 64-len(key)/2) + key // a code is cut after 64 characters
	body := func(code string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"code":%q,"message":"bad key %s"}}`, code, code, key)
	}
	headers := map[string]string{"X-Request-Id": "req-" + key, "Request-Id": key, "X-Oai-Request-Id": key, "X-Should-Retry": key}
	named := map[string]string{"X-Amzn-Errortype": key, "X-Amzn-Requestid": key}
	out := map[string]fakellm.Rule{
		"400":          {Action: "status", Status: 400, Body: body(key), Headers: headers},
		"401":          {Action: "status", Status: 401, Body: body(key), Headers: headers},
		"429":          {Action: "status", Status: 429, Body: body("e_" + key), Headers: headers},
		"500":          {Action: "status", Status: 500, Body: body(key), Headers: headers},
		"cut_off":      {Action: "status", Status: 400, Body: body(long), Headers: headers},
		"escaped":      {Action: "status", Status: 400, Body: strings.ReplaceAll(body(key), "code\":\"s", `code":"\u0073`), Headers: headers},
		"header":       {Action: "status", Status: 400, Body: `{"message":"x"}`, Headers: named},
		"error_in_200": {Action: "error_200", Body: body(key), Headers: headers},
	}
	if w.stream {
		event := "event: error\ndata: " + body(key) + "\n\n"
		out["event_before_content"] = fakellm.Rule{Action: "sse_error", Raw: event, Headers: headers}
		out["event_after_content"] = fakellm.Rule{Action: "sse_error", After: 5, Raw: event, Headers: headers, Reply: says("a")}
		out["not_a_stream"] = fakellm.Rule{Action: "json_for_stream", Headers: headers}
	}
	out["good"] = fakellm.Rule{Headers: headers, Reply: says("a")}
	return out
}

// OP-9: whoever is echoed by a provider, no key of the organisation reaches the
// client, and none at all is kept.
func TestOP_9_a_provider_that_repeats_the_key(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		for name, c := range map[string]struct {
			documents []string
			headers   []string
			key       string
			its       bool // the caller's own: it may hear of it
		}{
			"own":     {[]string{w.org("a"), w.pool("", "a")}, nil, w.key + "a", false},
			"virtual": {[]string{w.org("a"), w.pool("", "a"), virtual("a")}, []string{"Authorization: Bearer " + virtualSecret}, virtualCredential, false},
			"caller":  {[]string{w.pass("a"), w.pool("", "a")}, w.own(), w.callerKey(), true},
		} {
			t.Run(name, func(t *testing.T) {
				r := newRig(t, w, "telemetry: {logLevel: debug}", c.documents...)
				half := c.key[:len(c.key)/2+1] // of what a limit cut off
				for what, rule := range echoes(w, c.key) {
					r.script(t, at("a", rule))
					got := r.ask(t, c.headers...)
					if len(r.dialled()) == 0 {
						continue // an earlier answer parked the member
					}
					if !c.its {
						if all := fmt.Sprint(got.Header) + got.Body; strings.Contains(all, half) {
							t.Errorf("%s: the client got %s", what, all)
						}
					}
					if h := got.Header.Get("X-Interlock-Error"); strings.Contains(h, half) {
						t.Errorf("%s: x-interlock-error: %s", what, h)
					}
					r.record(t, got) // wait for it
					if d := r.Admin(t, "GET", "/decisions/"+got.Header.Get("X-Interlock-Request-Id"), ""); strings.Contains(d.Body, half) {
						t.Errorf("%s: recorded %s", what, d.Body)
					}
				}
				if log := r.Log.String(); strings.Contains(log, half) {
					t.Errorf("logged: %s", log)
				}
			})
		}
	})
}

// A key in place of the model's name is not shown, be it behind a scheme or a
// vendor's name.
func TestOP_9_a_key_in_the_model(t *testing.T) {
	w := ways()[3]
	r := newRig(t, w, "", w.org("a", `modelPatterns: ["*"]`))
	for _, model := range []string{
		"Bearer " + gwtest.Key, "openai/" + gwtest.Key, " " + gwtest.Key, "'" + gwtest.Key + "'", "Bearer sk-ant-api03-0123456789abcdef", "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl",
	} {
		got := r.send(t, model)
		if got.Status != 400 {
			t.Errorf("%s: %d %s", model, got.Status, got.Body)
		}
		key := strings.Trim(model[strings.LastIndexAny(strings.TrimRight(model, "'"), " /'")+1:], "'")
		shows(t, "the answer", fmt.Sprint(got.Header)+got.Body, []string{key})
	}
	for _, model := range []string{"milk_v1", "assess_7b", "vendor/sk-7b"} {
		if got := r.send(t, model); got.Status != 200 {
			t.Errorf("%s: %d %s", model, got.Status, got.Body)
		}
	}
	if n := len(r.dialled()); n != 3 {
		t.Errorf("%d dials", n)
	}
}
