package fakellm

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestLengthAndNumberOfContentFrames(t *testing.T) {
	for _, c := range []struct {
		name   string
		reply  Reply
		frames int
		text   string
	}{
		{"every twelve characters by default", Reply{Text: "1234567890ab1234567890ab1"}, 3, "1234567890ab1234567890ab1"},
		{"chunks of the text given", Reply{Text: "żółw i jeż", Chunks: 3}, 3, "żółw i jeż"},
		{"a length", Reply{TextLen: 100, Chunks: 5}, 5, (filler + filler + filler)[:100]},
		{"the text, to a length", Reply{Text: "ab", TextLen: 5, Chunks: 1}, 1, "ababa"},
		{"the same text in each", Reply{ChunkText: "tok ", Chunks: 4}, 4, "tok tok tok tok "},
		{"more chunks than characters", Reply{Text: "ab", Chunks: 4}, 4, "ab"},
		{"repeated", Reply{Text: "ab", Repeat: 2, Chunks: 1}, 1, "ab ab "},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := startWith(t, Options{Reply: c.reply})
			for path, where := range map[string]string{chatPath: "choices.0.delta.content", messagesPath: "delta.text"} {
				events := sseEvents(t, f.post(path, `{"stream":true}`).body)
				n := 0
				for _, e := range events[1:] { // the first chat chunk has an empty content
					if e.data != "[DONE]" && at(t, e.data, where) != nil {
						n++
					}
				}
				if got := joined(t, events, where); n != c.frames || got != c.text {
					t.Errorf("%s: %d frames of %q", path, n, got)
				}
			}
			if got := at(t, string(f.post(chatPath, `{}`).body), "choices.0.message.content"); got != c.text {
				t.Errorf("plain: %q", got)
			}
		})
	}
}

func TestEveryContentFrameEchoesTheMarker(t *testing.T) {
	f := startWith(t, Options{Reply: Reply{TextLen: 200, Chunks: 10, Thinking: "a long thought, in pieces"}})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			id := fmt.Sprintf("id-%d.", i)
			body := fmt.Sprintf(`{"stream":true,"messages":[{"content":"fake-echo:old %[1]s fake-echo:%[1]s!"}]}`, id)
			header := []string{"X-Fake-Echo", id}
			if i%2 == 0 {
				header = nil
			} else {
				body = `{"stream":true}`
			}
			for path, where := range map[string][]string{
				chatPath:     {"choices.0.delta.content", "choices.0.delta.reasoning_content"},
				messagesPath: {"delta.text", "delta.thinking"},
			} {
				n := 0
				for _, e := range sseEvents(t, f.post(path, body, header...).body) {
					for _, w := range where {
						if e.data == "[DONE]" {
							continue
						}
						if s, _ := at(t, e.data, w).(string); s != "" {
							n++
							if !strings.HasPrefix(s, "["+id+"] ") {
								t.Errorf("%s: %q without [%s]", path, s, id)
							}
						}
					}
				}
				if n != 10+3 {
					t.Errorf("%s: %d content frames", path, n)
				}
			}
		})
	}
	wg.Wait()
	if a := f.post(chatPath, `{}`, "X-Fake-Echo", "me"); strings.Count(string(a.body), "[me]") != 10+3 {
		t.Errorf("plain: %s", a.body)
	}
}

func TestAnswersFollowASchema(t *testing.T) {
	f := start(t)
	const schema = `{"type":"object","properties":{"n":{"type":"integer"},"s":{"enum":["x"]},"l":{"type":"array"},"o":{"anyOf":[{"type":"null"}]}}}`
	const want = `{"l":[],"n":1,"o":null,"s":"x"}`
	for _, c := range []struct{ path, body, at string }{
		{chatPath, `{"response_format":{"type":"json_schema","json_schema":{"schema":` + schema + `}}}`, "choices.0.message.content"},
		{messagesPath, `{"output_config":{"format":{"schema":` + schema + `}}}`, "content.0.text"},
		{responsesPath, `{"text":{"format":{"schema":` + schema + `}}}`, "output.0.content.0.text"},
		{geminiPath, `{"generationConfig":{"responseJsonSchema":` + schema + `}}`, "candidates.0.content.parts.0.text"},
	} {
		// The marker would break the JSON, so it stays out.
		if got := at(t, string(f.post(c.path, c.body, "X-Fake-Echo", "id").body), c.at); got != want {
			t.Errorf("%s: %v", c.path, got)
		}
	}
}

func TestBrokenToolArgumentsReachStringsOnly(t *testing.T) {
	f := startWith(t, Options{Reply: Reply{Tools: []Tool{{Name: "f", Input: []byte(`{"half`)}}}})
	if got := at(t, string(f.post(chatPath, `{}`).body), "choices.0.message.tool_calls.0.function.arguments"); got != `{"half` {
		t.Errorf("chat: %v", got)
	}
	if got := at(t, string(f.post(messagesPath, `{}`).body), "content.0.input"); fmt.Sprint(got) != "map[]" {
		t.Errorf("messages: %v", got)
	}
}
