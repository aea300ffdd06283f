package failure

import (
	"strings"
	"testing"
)

func classifyText(t *testing.T, fragment string, body []byte) bool {
	t.Helper()
	c := mustCompile(t, []Signal{{ID: "row", Text: []string{fragment}, Category: QuotaExhausted}}, Generic{})
	_, why := c.Explain(&Answer{Status: 429, Body: body, Now: noon}) // of which nothing is doubted: see echo.go
	return why == "row"
}

func TestBody_shapes_that_hold_a_message(t *testing.T) {
	for name, body := range map[string]string{
		"Anthropic, OpenAI":         `{"type":"error","error":{"type":"x","message":"Needle"}}`,
		"an array with one":         `[{"error":{"message":"needle"}}]`,
		"flat":                      `{"object":"error","message":"needle","code":400}`,
		"xAI, Ollama":               `{"code":"x","error":"needle"}`,
		"AWS":                       `{"Message":"needle"}`,
		"FastAPI":                   `{"detail":"needle"}`,
		"FastAPI, a list":           `{"detail":[{"loc":["body"],"msg":"needle"}]}`,
		"Mistral":                   `{"object":"error","message":{"detail":[{"msg":"needle"}]}}`,
		"Responses":                 `{"type":"response.failed","response":{"error":{"message":"needle"}}}`,
		"OpenRouter":                `{"error":{"message":"x","metadata":{"raw":"needle"}}}`,
		"OpenRouter, an object":     `{"error":{"message":"x","metadata":{"raw":{"error":{"message":"needle"}}}}}`,
		"OpenRouter, a choice":      `{"choices":[{"error":{"message":"needle"},"finish_reason":"error"}]}`,
		"Azure":                     `{"error":{"message":"x","innererror":{"code":"needle"}}}`,
		"a body in a message":       `{"error":{"message":"litellm.X: Y - {\"error\":{\"message\":\"needle\"}}"}}`,
		"a body after a brace":      `{"error":{"message":"set {x} - {\"error\":{\"message\":\"needle\"}}"}}`,
		"a code in a message":       `{"error":{"message":"X - {\"error\":{\"code\":\"needle\"}}"}}`,
		"a JSON string":             `"needle"`,
		"text":                      `Needle`,
		"text with a body":          `429: {"error":{"code":"needle"}}`,
		"white space and a mark":    "\ufeff \r\n {\"error\":{\"message\":\"needle\"}}",
		"cut off":                   `{"error":{"message":"needle","param":"abc`,
		"cut off in the message":    `{"error":{"message":"needle and so`,
		"an unknown shape":          `{"fault":{"text":"needle"}}`,
		"bytes that are not UTF-8":  "{\"error\":{\"message\":\"\xff\xfe needle\"}}",
		"longer than what is read":  `{"error":{"message":"needle"},"x":"` + strings.Repeat("a", 2*maxBody) + `"}`,
		"a message of endless text": `{"error":{"message":"needle ` + strings.Repeat("a", 2*maxBody) + `"}}`,
	} {
		if !classifyText(t, "needle", []byte(body)) {
			t.Errorf("%s: not found", name)
		}
	}
}

// What the user wrote must not decide: only the fields of an envelope are read.
func TestBody_other_fields_are_not_read(t *testing.T) {
	for name, body := range map[string]string{
		"an echoed input":     `{"detail":[{"msg":"bad","input":"needle"}]}`,
		"a request's field":   `{"error":{"message":"x","param":"needle"}}`,
		"an answer's content": `{"choices":[{"message":{"content":"needle"},"finish_reason":"stop"}],"error":{"message":"x"}}`,
		"the user's metadata": `{"type":"response.failed","response":{"metadata":{"raw":"needle"},"error":{"message":"x"}},"metadata":{"raw":"needle"}}`,
		"far into a message":  `{"error":{"message":"` + strings.Repeat("a", 3*maxText) + `needle"}}`,
		"beyond what is read": `{"error":{"message":"x"},"pad":"` + strings.Repeat("a", 2*maxBody) + `","message":"needle"}`,
		"far too deep":        `{"error":` + strings.Repeat(`{"error":`, 50) + `{"message":"needle"}` + strings.Repeat("}", 51) + ``,
	} {
		if name == "far too deep" {
			body = `{"message":"x",` + body[1:]
		}
		if classifyText(t, "needle", []byte(body)) {
			t.Errorf("%s: found", name)
		}
	}
}

func TestBody_nesting_does_not_hurt(t *testing.T) {
	c := mustCompile(t, nil, Generic{})
	for _, unit := range []string{"[", `{"error":`, `{"a":[`, "{", `"`, "\\", `[[{"x":`} {
		body := []byte(strings.Repeat(unit, 200_000/len(unit)))
		if f := c.Classify(&Answer{Status: 429, Body: body, Now: noon}); f.Category != RateLimit {
			t.Errorf("%s: %s", unit, f)
		}
	}
}

func TestBody_public_code(t *testing.T) {
	c := mustCompile(t, nil, Generic{})
	for body, want := range map[string]string{
		`{"error":{"type":"a","code":"b"}}`:                           "b",
		`{"error":{"type":"a","code":null}}`:                          "a",
		`{"error":{"type":"a","code":429}}`:                           "a",
		`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`:        "RESOURCE_EXHAUSTED",
		`{"error":{"code":1308}}`:                                     "1308",
		`{"__type":"com.amazon.coral#ThrottlingException"}`:           "ThrottlingException",
		`{"type":"error","error":{"message":"m"}}`:                    "",
		`{"error":{"code":"` + strings.Repeat("x", 99) + `"}}`:        strings.Repeat("x", 64),
		`{"error":{"code":"a\u0000\nb\u00e5\ud83d\ude00c"}}`:          "abc",
		`{"error":{"code":"\u00e5","type":"t"}}`:                      "t",
		`{"error":{"message":"{\"error\":{\"code\":\"inner\"}}"}}`:    "inner",
		`{"error":{"code":"outer","message":"{\"code\":\"inner\"}"}}`: "outer",
	} {
		if f := c.Classify(&Answer{Status: 429, Body: []byte(body), Now: noon}); f.Code != want {
			t.Errorf("%s: %q, want %q", body, f.Code, want)
		}
	}
	a := &Answer{Status: 429, Header: map[string][]string{"X-Amzn-Errortype": {"ns#ThrottlingException:http://x"}}, Body: []byte(`{"message":"m"}`), Now: noon}
	if f := c.Classify(a); f.Code != "ThrottlingException" {
		t.Errorf("AWS: %q", f.Code)
	}
}

func TestHeader_two_spellings_of_a_name(t *testing.T) {
	c := mustCompile(t, nil, Generic{})
	for range 20 {
		a := &Answer{Status: 429, Header: map[string][]string{"Retry-After": {"5"}, "retry-after": {"9"}, "RETRY-AFTER": nil}, Now: noon}
		if f := c.Classify(a); f.RetryAfter.Seconds() != 5 {
			t.Fatalf("%s", f)
		}
	}
}
