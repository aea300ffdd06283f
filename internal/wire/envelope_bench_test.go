package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// chatBody makes a request in the shape that a coding agent sends: a system
// prompt, tools with schemas, and turns whose texts hold code, quotes and
// escapes, until it is about size bytes long.
func chatBody(size int) []byte {
	const (
		head = `{"model":"claude-sonnet-4-6","max_tokens":8192,"stream":true,"temperature":1,` +
			`"metadata":{"user_id":"user_1_account_2_session_3"},`
		system = `"system":[{"type":"text","text":"You are a coding agent.\nAnswer briefly.","cache_control":{"type":"ephemeral"}}],`
		tool   = `{"name":"read_file","description":"Reads a file from the disk and returns its text.","input_schema":{"type":"object",` +
			`"properties":{"path":{"type":"string","description":"absolute path"},"limit":{"type":"integer"}},"required":["path"]}}`
		code = `func main() {\n\tfmt.Println(\"hello, wörld\")\n\tif err := run(); err != nil {\n\t\tlog.Fatal(err)\n\t}\n}\n`
	)
	var b bytes.Buffer
	b.WriteString(head)
	tools := 0
	if size > 4<<10 {
		b.WriteString(system)
		tools = min(20, size/(2<<10))
	}
	b.WriteString(`"tools":[`)
	for i := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(tool)
	}
	b.WriteString(`],"messages":[{"role":"user","content":"What does this program do?"}`)
	for i := 0; b.Len() < size-180; i++ {
		n := min(12, 1+(size-b.Len())/(4*len(code)))
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_%d","name":"read_file","input":{"path":"/src/%d.go"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, i, strings.Repeat(code, n))
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// jsontextEnvelope reads what ReadEnvelope reads with jsontext, the strictest
// of the JSON libraries at hand.
func jsontextEnvelope(b []byte, o ...jsontext.Options) (model []byte, stream bool, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(b), o...)
	if d.PeekKind() != '{' {
		return nil, false, errors.New("not an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, false, err
	}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, false, err
		}
		switch t.String() {
		case "model":
			v, err := d.ReadValue()
			if err != nil {
				return nil, false, err
			}
			if v.Kind() == '"' {
				model, err = jsontext.AppendUnquote(nil, v)
				if err != nil {
					return nil, false, err
				}
			}
		case "stream":
			v, err := d.ReadValue()
			if err != nil {
				return nil, false, err
			}
			stream = v.Kind() == 't'
		default:
			if err := d.SkipValue(); err != nil {
				return nil, false, err
			}
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, false, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, false, errors.New("text after the object")
	}
	return model, stream, nil
}

func BenchmarkEnvelope(b *testing.B) {
	known := NewNames("model", "messages", "stream", "max_tokens", "temperature", "system", "tools", "metadata")
	for _, size := range []struct {
		name string
		n    int
	}{{"0.5KB", 512}, {"10KB", 10 << 10}, {"200KB", 200 << 10}} {
		body := chatBody(size.n)
		b.Run(size.name+"/ours", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			var e Envelope
			for b.Loop() {
				if err := ReadEnvelope(&e, body, known, true); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(size.name+"/jsontext", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := jsontextEnvelope(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	// A prompt that is one long top-level string takes another path.
	body := []byte(`{"model":"m","input":"` + strings.Repeat(`All work and no play makes a dull day.\n`, 5000) + `"}`)
	b.Run("200KB-string/ours", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		var e Envelope
		for b.Loop() {
			if err := ReadEnvelope(&e, body, known, true); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The envelope is read for every request.
func TestReadEnvelope_allocates_only_the_model(t *testing.T) {
	known := NewNames("model", "messages", "stream", "max_tokens", "temperature", "system", "tools", "metadata")
	body := chatBody(10 << 10)
	var e Envelope
	if n := testing.AllocsPerRun(100, func() {
		if err := ReadEnvelope(&e, body, known, true); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}
