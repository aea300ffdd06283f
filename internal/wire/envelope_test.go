package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func testNames() *Names {
	return NewNames("model", "messages", "stream", "max_tokens", "tools", "metadata", "seek")
}

// marked takes the mark out of a body and returns where it stood.
func marked(t *testing.T, s string) (body []byte, at int) {
	t.Helper()
	before, after, ok := strings.Cut(s, "‸")
	if !ok {
		t.Fatalf("the test's body %q has no mark", s)
	}
	return []byte(before + after), len(before)
}

// refused reads a body that must be refused, and checks the error's place.
func refused(t *testing.T, body []byte, at int, message string) {
	t.Helper()
	var e Envelope
	err := ReadEnvelope(&e, body, testNames(), true)
	var be *BodyError
	if !errors.As(err, &be) {
		t.Fatalf("accepted with model %q, or another kind of error: %v", e.Model, err)
	}
	if be.Offset != at || !strings.Contains(be.Message, message) {
		t.Errorf("offset %d, %q; want offset %d, %q", be.Offset, be.Message, at, message)
	}
	if !strings.Contains(err.Error(), fmt.Sprintf("byte %d", at)) {
		t.Errorf("the text %q does not name the offset", err)
	}
}

// The mark ‸ is where the error must point.
func TestReadEnvelope_refuses(t *testing.T) {
	for _, c := range []struct{ name, body, message string }{
		// RQ-3a: what gateway and provider could read differently.
		{"RQ-3a a model twice", `{"model":"a",‸"model":"b"}`, `"model" appears twice`},
		{"a model twice with equal values", `{"model":"a", ‸"model":"a"}`, `"model" appears twice`},
		{"stream twice", `{"stream":true,"model":"a",‸"stream":false}`, `"stream" appears twice`},
		{"an unknown member twice", `{"model":"a","x":1,‸"x":{}}`, `"x" appears twice`},
		{"an unknown member twice, once escaped", `{"model":"a","xy":1,‸"\u0078y":2}`, `"xy" appears twice`},
		{"an empty name twice", `{"model":"a","":1,‸"":2}`, `"" appears twice`},
		{"the model's key in escapes", `{‸"mod\u0065l":"a"}`, `another spelling of "model"`},
		{"the model's key in escapes beside the plain one", `{"model":"a",‸"mod\u0065l":"b"}`, `another spelling of "model"`},
		{"the model's key in escapes before the plain one", `{‸"\u006Dodel":"b","model":"a"}`, `another spelling of "model"`},
		{"the model's key in another case", `{‸"MODEL":"a"}`, `"MODEL" is another spelling of "model"`},
		{"the model's key in another case beside it", `{"model":"a",‸"Model":"b"}`, `another spelling of "model"`},
		{"the model's key in escapes and another case", `{"model":"a",‸"\u004dodel":"b"}`, `another spelling of "model"`},
		{"a case twin of another known name", `{"model":"a",‸"Messages":[]}`, `another spelling of "messages"`},
		{"an escaped slash-free name that is known", `{"model":"a",‸"too\u006cs":[]}`, `another spelling of "tools"`},
		{"stream with a long s", "{\"model\":\"a\",‸\"\u017ftream\":true}", `another spelling of "stream"`},
		{"stream with an escaped long s", `{"model":"a",‸"\u017ftream":true}`, `another spelling of "stream"`},
		{"a known name with the Kelvin sign", "{\"model\":\"a\",‸\"see\u212a\":1}", `another spelling of "seek"`},
		{"a twin with long s in the middle and upper case", "{\"model\":\"a\",‸\"ME\u017fSAGES\":1}", `another spelling of "messages"`},
		{"two documents", `{"model":"a"} ‸{"model":"b"}`, "text after"},
		{"two documents without a space", `{"model":"a"}‸{"model":"b"}`, "text after"},

		// Text, not JSON.
		{"nothing", `‸`, "ends where a JSON object"},
		{"only spaces", " \n‸", "ends where a JSON object"},
		{"a byte order mark", "‸\xef\xbb\xbf{\"model\":\"a\"}", "a JSON object is expected"},
		{"UTF-16", "{‸\x00\"\x00}\x00", "a member name"},
		{"an array", `‸[{"model":"a"}]`, "a JSON object is expected"},
		{"a string", `‸"model"`, "a JSON object is expected"},
		{"null", `‸null`, "a JSON object is expected"},
		{"a form", `‸model=a`, "a JSON object is expected"},
		{"a bracket that closes nothing", `‸}`, "a JSON object is expected"},

		// UTF-8.
		{"bad UTF-8 in the model", "{\"model\":\"a‸\xff\"}", "not UTF-8"},
		{"bad UTF-8 in a name", "{\"‸\xc0x\":1,\"model\":\"a\"}", "not UTF-8"},
		{"bad UTF-8 in a nested text", "{\"model\":\"a\",\"messages\":[{\"content\":\"é‸\xe9\"}]}", "not UTF-8"},
		{"bad UTF-8 in another member", "{\"model\":\"a\",\"x\":\"‸\x80\"}", "not UTF-8"},
		{"bad UTF-8 between members", "{\"model\":\"a\",‸\xfe\"x\":1}", "not UTF-8"},
		{"bad UTF-8 after the object", "{\"model\":\"a\"}‸\xff", "not UTF-8"},
		{"an encoded surrogate", "{\"model\":\"a‸\xed\xa0\x80\"}", "not UTF-8"},
		{"a cut rune at the end", "{\"model\":\"a\"}‸\xe2\x82", "not UTF-8"},
		{"an overlong slash", "{\"model\":\"a‸\xc0\xaf\"}", "not UTF-8"},

		// NUL and control characters.
		{"NUL in the model", "{\"model\":\"a‸\x00b\"}", "control character"},
		{"NUL in a name", "{\"mo‸\x00del\":\"a\"}", "control character"},
		{"NUL in another text", "{\"model\":\"a\",\"x\":\"12345678‸\x00\"}", "control character"},
		{"a line end in a text", "{\"model\":\"a‸\n\"}", "control character"},
		{"a tab in a text", "{\"model\":\"a‸\t\"}", "control character"},
		{"NUL before a value", "{\"model\":‸\x00\"a\"}", "a value is expected"},
		{"NUL after the object", "{\"model\":\"a\"}‸\x00", "text after"},

		// Strings.
		{"an unknown escape", `{"model":"a‸\x"}`, "unknown escape"},
		{"an escaped quote of JavaScript", `{"model":"a‸\'"}`, "unknown escape"},
		{"an upper-case u", `{"model":"a‸\U0041"}`, "unknown escape"},
		{"three hexadecimal digits", `{"model":"a‸\u004"}`, "four hexadecimal digits"},
		{"a letter that is no digit", `{"model":"a‸\u00g1"}`, "four hexadecimal digits"},
		{"an escape cut by the end", `{"model":"a‸\u00`, "four hexadecimal digits"},
		{"a text that does not end", `{"model":‸"a`, "does not end"},
		{"a text that ends in a backslash", `{"model":‸"a\`, "does not end"},
		{"a text whose quote is escaped", `{"model":‸"a\"}`, "does not end"},
		{"a name that does not end", `{‸"model`, "does not end"},
		{"a nested text that does not end", `{"model":"a","m":[{"c":‸"x\"}]}`, "does not end"},
		{"a nested name that does not end", `{"model":"a","m":{‸"c}`, "does not end"},
		{"single quotes", `{‸'model':'a'}`, "a member name"},

		// Brackets.
		{"an object that does not end", `{"model":"a"‸`, `"," or "}"`},
		{"an object that ends after a comma", `{"model":"a",‸`, "a member name"},
		{"a comma before the end", `{"model":"a",‸}`, "a member name"},
		{"a leading comma", `{‸,"model":"a"}`, "a member name"},
		{"two commas", `{"model":"a",‸,"x":1}`, "a member name"},
		{"no comma", `{"model":"a" ‸"x":1}`, `"," or "}"`},
		{"no colon", `{"model" ‸"a"}`, `":"`},
		{"two colons", `{"model":‸:"a"}`, "a value is expected"},
		{"no value", `{"model":‸}`, "a value is expected"},
		{"an equals sign", `{"model"‸="a"}`, `":"`},
		{"a name that is a number", `{‸1:"a"}`, "a member name"},
		{"an end after the name", `{"model"‸`, `":"`},
		{"an end after the colon", `{"model":‸`, "a value"},
		{"an end after the bracket", `{‸`, "a member name"},
		{"an array closed by a brace", `{"model":"a","m":[1‸}`, "closes"},
		{"an object closed by a bracket", `{"model":"a","m":{‸]}`, "closes"},
		{"brackets crossed", `{"model":"a","m":[{‸]}}`, "closes"},
		{"a nested array that does not end", `{"model":"a","m":‸[1,[2]`, "does not end"},
		{"one bracket too many", `{"model":"a","m":[]‸]}`, `"," or "}"`},
		{"one brace too many", `{"model":"a"}‸}`, "text after"},
		{"a comment", `{‸/* x */"model":"a"}`, "a member name"},
		{"text after the object", `{"model":"a"} ‸x`, "text after"},
		{"a comma after the object", `{"model":"a"}‸,`, "text after"},

		// Words and numbers of the top level.
		{"NaN", `{"model":"a","x":‸NaN}`, "a value is expected"},
		{"Infinity", `{"model":"a","x":‸Infinity}`, "a value is expected"},
		{"a plus sign", `{"model":"a","x":‸+1}`, "a value is expected"},
		{"a leading zero", `{"model":"a","x":‸01}`, "number"},
		{"minus and leading zero", `{"model":"a","x":‸-01}`, "number"},
		{"only a minus", `{"model":"a","x":‸-}`, "number"},
		{"a point without digits", `{"model":"a","x":‸1.}`, "number"},
		{"a point first", `{"model":"a","x":‸.5}`, "a value is expected"},
		{"an exponent without digits", `{"model":"a","x":‸1e+}`, "number"},
		{"a hexadecimal number", `{"model":"a","x":0‸x1}`, `"," or "}"`},
		{"a word cut short", `{"model":"a","x":‸nul}`, "null is expected"},
		{"True", `{"model":"a","stream":‸True}`, "a value is expected"},
		{"a word with more behind it", `{"model":"a","x":true‸r}`, `"," or "}"`},

		// stream.
		{"stream as text", `{"model":"a","stream":‸"true"}`, "true or false"},
		{"stream as number", `{"model":"a","stream":‸1}`, "true or false"},
		{"stream null", `{"model":"a","stream":‸null}`, "true or false"},
		{"stream as object", `{"model":"a","stream":‸{"a":true}}`, "true or false"},
		{"stream before the model", `{"stream": ‸[true],"model":"a"}`, "true or false"},

		// model.
		{"no model", `{"messages":[]‸}`, `no "model"`},
		{"an empty object", `{‸}`, `no "model"`},
		{"a model only in a nested object", `{"messages":[{"model":"a"}]‸}`, `no "model"`},
		{"an empty model", `{"model":‸""}`, "is empty"},
		{"a model null", `{"model":‸null}`, "must be text"},
		{"a model as number", `{"model":‸1}`, "must be text"},
		{"a model as array", `{"model":‸["a"]}`, "must be text"},
		{"a model as object", `{"model": ‸{"id":"a"}}`, "must be text"},
		{"a model of 257 characters", `{"model":‸"` + strings.Repeat("a", 257) + `"}`, "more than 256"},
		{"a model of 257 wide characters", `{"model":‸"` + strings.Repeat("é", 257) + `"}`, "more than 256"},
		{"half a surrogate pair in the model", `{"model":‸"a\ud800"}`, "surrogate"},
		{"the other half alone", `{"model":‸"\udc00a"}`, "surrogate"},
		{"a pair in the wrong order", `{"model":‸"\udc00\ud800"}`, "surrogate"},
		{"half a pair before another escape", `{"model":‸"\ud83d\u0041"}`, "surrogate"},
		{"half a pair before a plain letter", `{"model":‸"\ud83dA123456"}`, "surrogate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, at := marked(t, c.body)
			refused(t, body, at, c.message)
		})
	}

	t.Run("values nested more than 10000 deep", func(t *testing.T) {
		const head = `{"model":"a","x":`
		deep := func(n int) []byte { return []byte(head + strings.Repeat("[", n) + strings.Repeat("]", n) + "}") }
		refused(t, deep(maxDepth+1), len(head)+maxDepth, "nested more than 10000 deep")
		var e Envelope
		if err := ReadEnvelope(&e, deep(maxDepth), testNames(), true); err != nil {
			t.Errorf("exactly 10000: %v", err)
		}
	})
	t.Run("more than 1000 members", func(t *testing.T) {
		many := func(n int) (b []byte, last int) {
			b = []byte(`{"model":"a"`)
			for i := range n - 1 {
				b = append(b, ',')
				last = len(b)
				b = fmt.Appendf(b, `"x%d":%d`, i, i)
			}
			return append(b, '}'), last
		}
		body, at := many(maxMembers + 1)
		refused(t, body, at, "more than 1000 members")
		body, _ = many(maxMembers)
		var e Envelope
		if err := ReadEnvelope(&e, body, testNames(), true); err != nil {
			t.Errorf("exactly 1000: %v", err)
		}
	})
	t.Run("an error text that repeats a name at most in part", func(t *testing.T) {
		long := strings.Repeat("é", 5000)
		err := ReadEnvelope(new(Envelope), []byte(`{"model":"a","`+long+`":1,"`+long+`":1}`), testNames(), true)
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("%.400v", err)
		}
	})
}

func TestReadEnvelope_accepts(t *testing.T) {
	long := strings.Repeat("é", MaxModelChars)
	for _, c := range []struct {
		name, body, model string
		stream            bool
	}{
		{"only a model", `{"model":"a"}`, "a", false},
		{"spaces of all four kinds everywhere", " \t\r\n{ \"model\" \n:\t\"a\" , \"stream\"\r: true } \n", "a", true},
		{"stream false", `{"stream":false,"model":"a"}`, "a", false},
		{"the model last", `{"messages":[{"model":"b","stream":true}],"model":"a"}`, "a", false},
		{"a model in escapes", `{"model":"cl\u0061ude\u002dx\/\"\\\b\f\n\r\t"}`, "claude-x/\"\\\b\f\n\r\t", false},
		{"a model with a surrogate pair", `{"model":"\ud83d\ude00"}`, "😀", false},
		{"a model in digits of either case", `{"model":"\u00E9\u00e9\u00FF\uABCD\uabcd\uffEF"}`, "éé\u00ff\uabcd\uabcd\uffef", false},
		{"a model of 256 characters", `{"model":"` + strings.Repeat("a", MaxModelChars) + `"}`, strings.Repeat("a", MaxModelChars), false},
		{"a model of 256 wide characters", `{"model":"` + long + `"}`, long, false},
		{"unknown members and roles", `{"model":"a","x_new":{"y":[1,2]},"messages":[{"role":"developer2","content":[{"type":"hologram"}]}]}`, "a", false},
		{"half a surrogate pair in a nested text", `{"model":"a","messages":[{"content":"\ud83d"}]}`, "a", false},
		{"half a surrogate pair in another member", `{"model":"a","user":"\ud83d"}`, "a", false},
		{"half a surrogate pair in an unknown name", `{"model":"a","\ud83d":1}`, "a", false},
		{"a known name inside a value in any case", `{"model":"a","metadata":{"MODEL":"x","model":"y","model":"z"}}`, "a", false},
		{"a value that looks like a member", `{"model":"a","x":"\"model\":\"b\""}`, "a", false},
		{"an unknown name in escapes", `{"model":"a","\u0078":1}`, "a", false},
		{"unknown names that differ by case", `{"model":"a","xy":1,"XY":2,"Xy":3}`, "a", false},
		{"names that only begin like a known one", `{"model":"a","models":1,"mode":2,"model ":3," model":4}`, "a", false},
		{"an empty name", `{"":0,"model":"a"}`, "a", false},
		{"numbers of all forms", `{"model":"a","a":0,"b":-0,"c":10.25,"d":1e9,"e":-1.5E-7,"f":2e+3}`, "a", false},
		{"a number out of range", `{"model":"a","x":1e999}`, "a", false},
		{"words", `{"model":"a","x":null,"y":true,"z":false}`, "a", false},
		{"nested values that are only balanced", `{"model":"a","x":[1 2,,{"a"}nope]}`, "a", false},
		{"brackets in texts", `{"model":"a","x":["]","}","\"]","\\"],"y":{"}":"{"}}`, "a", false},
		{"texts that end in backslashes", `{"model":"a","x":["\\","\\\\","\\\""],"y":"\\"}`, "a", false},
		{"more members than the envelope has room for", func() string {
			b := []byte(`{`)
			for i := range 100 {
				b = fmt.Appendf(b, `"x%d":[%d],`, i, i)
			}
			return string(b) + `"model":"a","stream":true}`
		}(), "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e Envelope
			if err := ReadEnvelope(&e, []byte(c.body), testNames(), true); err != nil {
				t.Fatal(err)
			}
			if e.Model != c.model || e.Stream != c.stream {
				t.Errorf("model %q, stream %v; want %q, %v", e.Model, e.Stream, c.model, c.stream)
			}
			if got := e.AppendWithModel(nil, c.model); string(got) != c.body {
				t.Errorf("the same model changed the body to %q", got)
			}
			if string(e.Body()) != c.body {
				t.Errorf("Body is %q", e.Body())
			}
		})
	}
}

func TestReadEnvelope_without_a_model_of_its_own(t *testing.T) {
	var e Envelope
	if err := ReadEnvelope(&e, []byte(`{"contents":[],"stream":true}`), testNames(), false); err != nil {
		t.Fatal(err)
	}
	if e.Model != "" || !e.Stream {
		t.Errorf("model %q, stream %v", e.Model, e.Stream)
	}
	if got := string(e.AppendWithModel(nil, "other")); got != `{"contents":[],"stream":true}` {
		t.Errorf("a body without a model became %s", got)
	}
	for name, body := range map[string]string{
		"a twin is refused all the same":      `{"Model":"a"}`,
		"a duplicate is refused all the same": `{"model":"a","model":"a"}`,
		"balance is required all the same":    `{"contents":[}`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := ReadEnvelope(&e, []byte(body), testNames(), false); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestReadEnvelope_forgets_the_body_before(t *testing.T) {
	var e Envelope
	if err := ReadEnvelope(&e, []byte(`{"model":"first","stream":true,"n":2}`), testNames(), true); err != nil {
		t.Fatal(err)
	}
	if err := ReadEnvelope(&e, []byte(`{"model":"second"}`), testNames(), true); err != nil {
		t.Fatal(err)
	}
	if _, ok := e.Value("n"); ok || e.Stream || e.Model != "second" {
		t.Errorf("kept something of the body before: %q %v", e.Model, e.Stream)
	}
	if err := ReadEnvelope(&e, []byte(`{}`), testNames(), true); err == nil || e.Model != "" {
		t.Errorf("%v, model %q", err, e.Model)
	}
}

func TestEnvelope_Value_gives_raw_top_level_members(t *testing.T) {
	var e Envelope
	body := `{"n" : 2 ,"x":{"n":3} , "model":"\u0061","\u006e2":"esc"}`
	if err := ReadEnvelope(&e, []byte(body), testNames(), true); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"n": "2", "x": `{"n":3}`, "model": `"\u0061"`, "n2": `"esc"`} {
		if got, ok := e.Value(name); !ok || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "N", "missing"} {
		if got, ok := e.Value(name); ok {
			t.Errorf("%q is %s", name, got)
		}
	}
}

func TestAppendWithModel(t *testing.T) {
	const body = ` {"x":[1, 2],  "model" : "old\u002d1" ,"y":{"model":"old-1"}} `
	var e Envelope
	if err := ReadEnvelope(&e, []byte(body), testNames(), true); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, model, want string }{
		{"the same model keeps even its escapes", "old-1", body},
		{"another model replaces only its own bytes", "new", strings.Replace(body, `"old\u002d1"`, `"new"`, 1)},
		{"a model with quotes is quoted", `a"b\c`, strings.Replace(body, `"old\u002d1"`, `"a\"b\\c"`, 1)},
		{"an empty model is written as one", "", strings.Replace(body, `"old\u002d1"`, `""`, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := e.AppendWithModel([]byte("head"), c.model); string(got) != "head"+c.want {
				t.Errorf("got  %s\nwant head%s", got, c.want)
			}
			if string(e.Body()) != body {
				t.Errorf("the client's own body changed to %s", e.Body())
			}
		})
	}
}

func TestMembers_calls_for_the_top_level_only(t *testing.T) {
	var got []string
	err := Members([]byte(`{"a":1,"b":{"c":2},"\u0064":"x","a":[3]}`), func(name, value []byte) {
		got = append(got, fmt.Sprintf("%s=%s", name, value))
	})
	if want := `a=1 b={"c":2} d="x" a=[3]`; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v, %q", err, got)
	}
	for _, bad := range []string{``, `[]`, `{"a":}`, `{"a":1`, `{"a":1}x`} {
		if err := Members([]byte(bad), func([]byte, []byte) {}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", `""`},
		{"plain text stays", "claude-opus/4:1 <&>", `"claude-opus/4:1 <&>"`},
		{"quotes and backslashes", `a"b\c`, `"a\"b\\c"`},
		{"line ends never break a line", "a\r\nb", `"a\r\nb"`},
		{"control characters", "\x00\x1f", `"\u0000\u001f"`},
		{"wide letters", "é😀", `"é😀"`},
		{"bad UTF-8 becomes U+FFFD", "a\xffb", `"a\ufffdb"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(AppendString([]byte("x"), c.in)); got != "x"+c.want {
				t.Errorf("got %s, want x%s", got, c.want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		q := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(q, &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") {
			t.Fatalf("%q → %s → %q, %v", s, q, back, err)
		}
		if bytes.ContainsAny(q, "\r\n") {
			t.Fatalf("%s has a line end", q)
		}
	})
}

// Case folding has more than upper and lower case. Whatever encoding/json
// takes for a known name must be refused, and nothing else.
func TestReadEnvelope_folds_names_as_encoding_json_does(t *testing.T) {
	for _, known := range []string{"model", "stream", "seek", "tools"} {
		for i, r := range known {
			for twin := unicode.SimpleFold(r); twin != r; twin = unicode.SimpleFold(twin) {
				name := known[:i] + string(twin) + known[i+1:]
				var std struct {
					Model  any `json:"model"`
					Stream any `json:"stream"`
					Seek   any `json:"seek"`
					Tools  any `json:"tools"`
				}
				body := []byte(fmt.Sprintf(`{%q:1}`, name))
				if err := json.Unmarshal(body, &std); err != nil || std.Model == nil && std.Stream == nil && std.Seek == nil && std.Tools == nil {
					t.Fatalf("encoding/json does not take %q for %q: the test is wrong", name, known)
				}
				if err := ReadEnvelope(new(Envelope), body, testNames(), false); err == nil {
					t.Errorf("%q passes beside %q", name, known)
				}
			}
		}
	}
}

// genBody draws request bodies: mostly valid JSON with the names, twins,
// escapes and duplicates that matter, sometimes damaged.
func genBody(t *rapid.T, damage bool) []byte {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t\r "})
	plain := rapid.Map(rapid.IntRange(0, 30), func(i int) string { return fmt.Sprintf(`"x%d"`, i) })
	known := rapid.SampledFrom([]string{`"model"`, `"stream"`, `"messages"`, `"max_tokens"`, `"tools"`})
	odd := rapid.SampledFrom([]string{
		`"\u0078\u0031"`, `"models"`, `""`, `"é"`, `"\ud800"`, `"Model"`, `"mod\u0065l"`, `"\u017ftream"`, `"X1"`, `"MESSAGES"`,
	})
	name := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 19).Draw(t, "name kind") {
		case 0:
			return odd.Draw(t, "name")
		case 1, 2, 3, 4, 5:
			return known.Draw(t, "name")
		}
		return plain.Draw(t, "name")
	})
	str := rapid.OneOf(
		rapid.SampledFrom([]string{`"a"`, `""`, `"gpt-5"`, `"\ud83d\ude00"`, `"\ud83d"`, `"a\"b\\"`, `"\\"`, `"é"`, `"\u0041\/\n"`, `"}]"`, "\"\u017f\""}),
		rapid.Custom(func(t *rapid.T) string {
			q, err := jsontext.AppendQuote(nil, rapid.StringN(0, 20, -1).Draw(t, "text"))
			if err != nil {
				return `"?"`
			}
			return string(q)
		}),
	)
	scalar := rapid.OneOf(str, rapid.SampledFrom([]string{`true`, `false`, `null`, `0`, `-1.5e3`, `12`}))
	var value func(depth int) string
	value = func(depth int) string {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth > 3 || kind < 4 {
			return scalar.Draw(t, "scalar")
		}
		var b strings.Builder
		n := rapid.IntRange(0, 3).Draw(t, "n")
		if kind == 4 {
			b.WriteByte('[')
			for i := range n {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(space.Draw(t, "space") + value(depth+1))
			}
			return b.String() + "]"
		}
		b.WriteByte('{')
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(space.Draw(t, "space") + name.Draw(t, "inner name") + ":" + value(depth+1))
		}
		return b.String() + "}"
	}

	var b strings.Builder
	b.WriteString(space.Draw(t, "space") + "{")
	members := rapid.IntRange(0, 6).Draw(t, "members")
	model := rapid.IntRange(0, members).Draw(t, "model at") // usually the only one
	for i := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		n := `"model"`
		if i != model {
			n = name.Draw(t, "name")
		}
		b.WriteString(space.Draw(t, "space") + n + space.Draw(t, "space") + ":" + space.Draw(t, "space"))
		usual := rapid.IntRange(0, 9).Draw(t, "usual") > 0
		switch {
		case n == `"model"` && usual:
			b.WriteString(str.Draw(t, "model"))
		case n == `"stream"` && usual:
			b.WriteString(rapid.SampledFrom([]string{"true", "false"}).Draw(t, "stream"))
		default:
			b.WriteString(value(0))
		}
		b.WriteString(space.Draw(t, "space"))
	}
	b.WriteString("}" + space.Draw(t, "space"))
	body := []byte(b.String())
	for damage && len(body) > 0 && rapid.IntRange(0, 2).Draw(t, "damage") == 2 {
		at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			body = append(body[:at:at], body[at+1:]...)
		case 1:
			body[at] = rapid.SampledFrom([]byte("\"\\{}[],:0-tn \x00\xff")).Draw(t, "byte")
		case 2:
			body = body[:at]
		}
	}
	return body
}

// hasTwin tells, by way of encoding/json's own folding, whether a known name
// is there in another spelling.
func hasTwin(body []byte, known *Names) bool {
	twin := false
	_ = scanObject(body, func(m Member, escaped bool) error {
		for _, k := range known.exact {
			if strings.EqualFold(k, string(m.name)) && (escaped || string(m.name) != k) {
				twin = true
			}
		}
		return nil
	})
	return twin
}

// checkBodies draws bodies for a property. A check draws many, since half of
// them say nothing.
func checkBodies(t *testing.T, damage bool, property func(t *rapid.T, body []byte)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			property(t, genBody(t, damage))
		}
	})
}

func TestReadEnvelope_accepts_what_strict_jsontext_accepts(t *testing.T) {
	known, judged := testNames(), 0
	checkBodies(t, false, func(t *rapid.T, body []byte) {
		model, stream, err := jsontextEnvelope(body)
		if err != nil || len(model) == 0 || hasTwin(body, known) {
			return
		}
		if m, ok := rawMember(body, "stream"); ok && m != "true" && m != "false" {
			return
		}
		judged++
		var e Envelope
		if err := ReadEnvelope(&e, body, known, true); err != nil {
			t.Fatalf("%s\njsontext reads the model %q; refused: %v", body, model, err)
		}
		if e.Model != string(model) || e.Stream != stream {
			t.Fatalf("%s\nmodel %q, stream %v; jsontext reads %q, %v", body, e.Model, e.Stream, model, stream)
		}
	})
	if judged == 0 {
		t.Error("no body was judged: the generator is broken")
	}
}

func rawMember(body []byte, want string) (raw string, ok bool) {
	_ = Members(body, func(name, value []byte) {
		if string(name) == want {
			raw, ok = string(value), true
		}
	})
	return raw, ok
}

// hollow empties the nested values of a body, which may be anything balanced.
func hollow(e *Envelope) []byte {
	var out []byte
	at := 0
	for _, m := range e.members {
		if c := e.body[m.start]; c == '{' || c == '[' {
			out = append(append(out, e.body[at:m.start]...), '0')
			at = m.end
		}
	}
	return append(out, e.body[at:]...)
}

func TestReadEnvelope_is_as_strict_as_jsontext_but_for_nested_values(t *testing.T) {
	known, both, nested := testNames(), 0, 0
	checkBodies(t, true, func(t *rapid.T, body []byte) {
		var e Envelope
		if ReadEnvelope(&e, body, known, true) != nil {
			return
		}
		if _, _, err := jsontextEnvelope(body); err == nil {
			both++
			return
		}
		nested++
		// Half a surrogate pair passes in other strings of the top level as
		// well; jsontext refuses it as it refuses bad UTF-8, which the
		// envelope has looked at.
		if _, _, err := jsontextEnvelope(hollow(&e), jsontext.AllowInvalidUTF8(true)); err != nil {
			t.Fatalf("%s\nis accepted, jsontext: %v", body, err)
		}
	})
	if both == 0 || nested == 0 {
		t.Errorf("%d bodies were accepted by both, %d only by us: the generator is broken", both, nested)
	}
}

func TestAppendWithModel_changes_nothing_but_the_model(t *testing.T) {
	known := testNames()
	checkBodies(t, true, func(t *rapid.T, body []byte) {
		var e Envelope
		if ReadEnvelope(&e, body, known, true) != nil {
			return
		}
		model := rapid.OneOf(rapid.Just(e.Model), rapid.StringN(1, 30, -1)).Draw(t, "model")
		checkRewrite(t, &e, body, model)
	})
}

// checkRewrite is shared with the fuzz target.
func checkRewrite(t interface{ Fatalf(string, ...any) }, e *Envelope, body []byte, model string) {
	before := bytes.Clone(body)
	if got := e.AppendWithModel(nil, e.Model); !bytes.Equal(got, body) {
		t.Fatalf("the same model changed %q to %q", body, got)
	}
	got := e.AppendWithModel(nil, model)
	m := e.members[e.model]
	tail := body[m.end:]
	if !bytes.HasPrefix(got, body[:m.start]) || !bytes.HasSuffix(got, tail) || len(got) < m.start+len(tail) {
		t.Fatalf("%q became %q: other bytes changed", body, got)
	}
	var written string
	if err := json.Unmarshal(got[m.start:len(got)-len(tail)], &written); err != nil || written != model {
		t.Fatalf("%q became %q: the model reads as %q, %v", body, got, written, err)
	}
	if name, _, err := jsontextEnvelope(got); err == nil && string(name) != model {
		t.Fatalf("%q became %q: jsontext reads %q", body, got, name)
	}
	if !bytes.Equal(before, body) {
		t.Fatalf("the client's body changed")
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, s := range []string{
		`{"model":"a","stream":true,"messages":[{"role":"user","content":"hi"}]}`,
		`{"model":"a","model":"b"}`, `{"mod\u0065l":"b"}`, `{"MODEL":"b","model":"a"}`, "{\"\u017ftream\":true}", "\xef\xbb\xbf{}",
		`{"model":"\ud800"}`, `{"model":"a","x":[{"y":"\"]"}]}`, `{"model":"a"} {}`, `{"model":"a","x":1e999}`, `{"a":"\\"`,
	} {
		f.Add([]byte(s), "claude-x")
	}
	f.Add(chatBody(600), "gpt-5")
	known := testNames()
	f.Fuzz(func(t *testing.T, body []byte, model string) {
		var e Envelope
		if err := ReadEnvelope(&e, body, known, true); err != nil {
			var be *BodyError
			if !errors.As(err, &be) || be.Offset < 0 || be.Offset > len(body) || be.Message == "" {
				t.Fatalf("%q: %#v", body, err)
			}
			return
		}
		if e.Model == "" {
			t.Fatalf("%q has an empty model", body)
		}
		// encoding/json ignores case and takes the last duplicate: if it
		// reads the body at all, it must read the same.
		var std struct {
			Model  string `json:"model"`
			Stream bool   `json:"stream"`
		}
		if json.Valid(body) {
			if err := json.Unmarshal(body, &std); err != nil || std.Model != e.Model || std.Stream != e.Stream {
				t.Fatalf("%q: model %q, stream %v; encoding/json reads %q, %v, %v", body, e.Model, e.Stream, std.Model, std.Stream, err)
			}
		}
		if _, _, err := jsontextEnvelope(hollow(&e), jsontext.AllowInvalidUTF8(true)); err != nil {
			t.Fatalf("%q is accepted, jsontext: %v", body, err)
		}
		checkRewrite(t, &e, body, strings.ToValidUTF8(model, "?"))
	})
}
