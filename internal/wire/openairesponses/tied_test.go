package openairesponses_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/openairesponses"
)

func envelope(tb testing.TB, body string) *wire.Envelope {
	tb.Helper()
	e := new(wire.Envelope)
	if err := wire.ReadEnvelope(e, []byte(body), openairesponses.New().Known, true); err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	return e
}

func TestTied_RT_FO_2(t *testing.T) {
	const text = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
	input := func(items ...string) string {
		return `"input":[` + strings.Join(append([]string{text}, items...), ",") + `]`
	}
	for _, c := range []struct{ name, members, reason string }{
		{"a text", `"input":"hi"`, ""},
		{"no input", `"stream":true`, ""},
		{"an input of null", `"input":null`, ""},
		{"messages", input(), ""},
		{"what agents ask for is not what they send", `"include":["reasoning.encrypted_content"],"store":false,` + input(), ""},
		{"reasoning without its encrypted form", input(`{"type":"reasoning","id":"rs_1","summary":[]}`), ""},
		{"reasoning whose encrypted form is null", input(`{"type":"reasoning","summary":[],"encrypted_content":null}`), ""},
		{"reasoning whose encrypted form is empty", input(`{"type":"reasoning","summary":[],"encrypted_content":""}`), ""},

		{"a previous response", `"previous_response_id":"resp_1","input":"hi"`, "previous_response_id"},
		{"a previous response of null", `"previous_response_id":null,"input":"hi"`, ""},
		{"an empty previous response", `"previous_response_id":"","input":"hi"`, ""},
		{"a conversation", `"conversation":"conv_1"`, "conversation"},
		{"a conversation as an object", `"conversation":{"id":"conv_1"}`, "conversation"},
		{"a conversation of null", `"conversation":null`, ""},
		{"background", `"background":true,"input":"hi"`, "background"},
		{"no background", `"background":false,"input":"hi"`, ""},
		{"encrypted reasoning", input(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAAB"}`, text), "encrypted_content"},
		{"the same with spaces", `"input" : [ { "encrypted_content" : ` + "\n\t" + `"gAAAAAB" , "type" : "reasoning" } ]`, "encrypted_content"},
		{"a compaction", input(`{"type":"compaction","encrypted_content":"gAAAAAB"}`), "encrypted_content"},
		{"the second of two", input(`{"type":"reasoning","encrypted_content":null}`, `{"type":"reasoning","encrypted_content":"g"}`), "encrypted_content"},
		{"an agent's message, deeper inside", input(`{"type":"agent_message","content":[{"type":"encrypted_content","encrypted_content":"g"}]}`), "encrypted_content"},
		{"a reference to an item", input(`{"type":"item_reference","id":"rs_1"}`), "item_reference"},
		{"a reference with spaces", input(`{ "id" : "rs_1", "type" : "item_reference" }`), "item_reference"},

		{"the name as a text", input(`{"role":"user","content":"encrypted_content"}`, `{"role":"user","content":"item_reference"}`), ""},
		{"the member quoted in a text", input(`{"role":"user","content":"{\"encrypted_content\":\"g\",\"type\":\"item_reference\"}"}`), ""},
		{"the name at the end of a text", input(`{"role":"user","content":"what is \"encrypted_content"}`), ""},
		{"in the arguments of a call", input(`{"type":"function_call","name":"f","arguments":"{\"encrypted_content\": \"g\"}"}`), ""},
		{"a text that ends in a backslash", input(`{"role":"user","content":"\\"}`, `{"type":"reasoning","encrypted_content":"g"}`), "encrypted_content"},
		{"a property of a tool that was found", input(`{"type":"tool_search_output","tools":[{"parameters":{"properties":{"encrypted_content":{"type":"string"}}}}]}`), ""},
		{"a property of a tool", `"tools":[{"parameters":{"default":{"encrypted_content":"g"}}}],` + input(), ""},
		{"a function named like an item", input(`{"type":"function_call","name":"item_reference","arguments":"{}"}`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tied, reason := openairesponses.Tied(envelope(t, `{"model":"m",`+c.members+`}`))
			if tied != (c.reason != "") || reason != c.reason {
				t.Errorf("%v, %q; want %q", tied, reason, c.reason)
			}
		})
	}
}

// What clients send in their first turns is free; see testdata/requests.
func TestTied_captured_requests_are_free(t *testing.T) {
	files, err := filepath.Glob("testdata/requests/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if tied, reason := openairesponses.Tied(envelope(t, string(b))); tied {
			t.Errorf("%s: %s", f, reason)
		}
	}
}

// agentBody is a captured turn of Codex whose history has grown to about size
// bytes, with the texts, calls and results of more turns.
func agentBody(tb testing.TB, size int, last string) string {
	tb.Helper()
	b, err := os.ReadFile("testdata/requests/codex-tool-result.json")
	if err != nil {
		tb.Fatal(err)
	}
	var v map[string]json.RawMessage
	var items []json.RawMessage
	if err := json.Unmarshal(b, &v); err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(v["input"], &items); err != nil {
		tb.Fatal(err)
	}
	code := strings.Repeat(`func main() {\n\tfmt.Println(\"hello, wörld\")\n}\n`, 20)
	for i := len(b); i < size; i += len(code) + 250 {
		items = append(items, json.RawMessage(`{"type":"function_call","status":"completed","id":"fc_1","name":"exec_command","arguments":"{\"cmd\":\"cat main.go\"}","call_id":"call_1"}`),
			json.RawMessage(`{"type":"function_call_output","call_id":"call_1","output":"`+code+`"}`))
	}
	if last != "" {
		items = append(items, json.RawMessage(last))
	}
	if v["input"], err = json.Marshal(items); err != nil {
		tb.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

func BenchmarkTied(b *testing.B) {
	for name, last := range map[string]string{
		"free": "", "encrypted at the end": `{"type":"reasoning","summary":[],"encrypted_content":"gAAAAAB"}`,
	} {
		e := envelope(b, agentBody(b, 85_000, last))
		b.Run(fmt.Sprintf("%dKB %s", len(e.Body())/1000, name), func(b *testing.B) {
			b.SetBytes(int64(len(e.Body())))
			b.ReportAllocs()
			for b.Loop() {
				openairesponses.Tied(e)
			}
		})
	}
}

// tiedByDecoding is Tied by the book.
func tiedByDecoding(body []byte) bool {
	var v struct {
		Previous     json.RawMessage `json:"previous_response_id"`
		Conversation json.RawMessage `json:"conversation"`
		Background   json.RawMessage `json:"background"`
		Input        json.RawMessage `json:"input"`
	}
	if json.Unmarshal(body, &v) != nil {
		return false
	}
	set := func(m json.RawMessage) bool { return len(m) > 0 && string(m) != "null" && string(m) != `""` }
	if set(v.Previous) || set(v.Conversation) || string(v.Background) == "true" {
		return true
	}
	if len(v.Input) == 0 || v.Input[0] != '[' {
		return false
	}
	return tiedInside(json.NewDecoder(bytes.NewReader(v.Input)))
}

// tiedInside walks the tokens of a value: a decoded map would lose a member
// that is there twice.
func tiedInside(d *json.Decoder) bool {
	type level struct {
		object, value bool
		name          string
	}
	var levels []level
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		top := len(levels) - 1
		if delim, ok := tok.(json.Delim); ok && (delim == '}' || delim == ']') {
			levels = levels[:top]
			top--
		} else if ok {
			levels = append(levels, level{object: delim == '{'})
			continue
		}
		if top < 0 || !levels[top].object {
			continue
		}
		l := &levels[top]
		text, isText := tok.(string)
		if !l.value && isText {
			l.name, l.value = text, true
			continue
		}
		if isText && (l.name == "encrypted_content" && text != "" || l.name == "type" && text == "item_reference") {
			return true
		}
		l.value = false
	}
}

func FuzzTied(f *testing.F) {
	f.Add(`[{"type":"reasoning","encrypted_content":"g"}]`, "x")
	f.Add(`[{"encrypted_content":null,"a":[{"b":"\"encrypted_content\":\"g\""}]},{"type":"item_reference"}]`, `"encrypted_content":"g"`)
	f.Fuzz(func(t *testing.T, input, text string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		for _, body := range []string{
			`{"model":"m","input":` + input + `}`,
			`{"model":"m","input":[{"role":"user","content":` + string(quoted) + `}],"tools":[` + string(quoted) + `]}`,
		} {
			e := new(wire.Envelope)
			if !json.Valid([]byte(body)) || wire.ReadEnvelope(e, []byte(body), openairesponses.New().Known, true) != nil {
				continue
			}
			if strings.Contains(body, `\u`) {
				continue // a name in escapes is not looked for
			}
			if got, reason := openairesponses.Tied(e); got != tiedByDecoding([]byte(body)) {
				t.Errorf("%s: %v (%s)", body, got, reason)
			}
		}
	})
}
