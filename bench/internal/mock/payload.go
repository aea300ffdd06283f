package mock

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/bench/internal/wire"
)

// api is one wire format: how its replies, streams and errors look.
type api struct {
	plain func(o Options) string
	// head and tail are the SSE events around the content chunks.
	head string
	tail func(o Options, usage bool) string
	// A content chunk is chunkA + content + chunkB.
	chunkA, chunkB string
	fail           func(status int) string
}

const words = "The quick brown fox jumps over the lazy dog. "

func content(size int) string {
	return strings.Repeat(words, size/len(words)+1)[:size]
}

const (
	promptTokens = 25
	tokenBytes   = 4 // bytes of content counted as one completion token
)

var openAI = api{
	plain: func(o Options) string {
		out := o.Size/tokenBytes + 1
		return fmt.Sprintf(`{"id":"chatcmpl-BenchMock0001","object":"chat.completion","created":1750000000,"model":"gpt-4o-mini-2024-07-18",`+
			`"choices":[{"index":0,"message":{"role":"assistant","content":%q,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},`+
			`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},`+
			`"service_tier":"default","system_fingerprint":"fp_0123456789"}`,
			content(o.Size), promptTokens, out, promptTokens+out)
	},
	head: "data: " + openAIChunk(`{"role":"assistant","content":"","refusal":null}`, "null") + "\n\n",
	tail: func(o Options, usage bool) string {
		s := "data: " + openAIChunk(`{}`, `"stop"`) + "\n\n"
		if usage {
			s += fmt.Sprintf(`data: {"id":"chatcmpl-BenchMock0001","object":"chat.completion.chunk","created":1750000000,"model":"gpt-4o-mini-2024-07-18",`+
				`"service_tier":"default","system_fingerprint":"fp_0123456789","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n",
				promptTokens, o.Chunks, promptTokens+o.Chunks)
		}
		return s + "data: [DONE]\n\n"
	},
	chunkA: `data: {"id":"chatcmpl-BenchMock0001","object":"chat.completion.chunk","created":1750000000,"model":"gpt-4o-mini-2024-07-18",` +
		`"service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":"`,
	chunkB: `"},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n",
	fail: func(status int) string {
		kind, code := "server_error", "null"
		switch status {
		case 401:
			kind, code = "invalid_request_error", `"invalid_api_key"`
		case 429:
			kind, code = "requests", `"rate_limit_exceeded"`
		case 400, 404, 422:
			kind = "invalid_request_error"
		}
		return fmt.Sprintf(`{"error":{"message":"injected by mockup","type":%q,"param":null,"code":%s}}`, kind, code)
	},
}

func openAIChunk(delta, finish string) string {
	return `{"id":"chatcmpl-BenchMock0001","object":"chat.completion.chunk","created":1750000000,"model":"gpt-4o-mini-2024-07-18",` +
		`"service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":` + delta +
		`,"logprobs":null,"finish_reason":` + finish + `}],"usage":null}`
}

var anthropic = api{
	plain: func(o Options) string {
		return fmt.Sprintf(`{"id":"msg_BenchMock0001","type":"message","role":"assistant","model":"claude-sonnet-4-20250514",`+
			`"content":[{"type":"text","text":%q}],"stop_reason":"end_turn","stop_sequence":null,`+
			`"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":%d,"service_tier":"standard"}}`,
			content(o.Size), promptTokens, o.Size/tokenBytes+1)
	},
	head: "event: message_start\n" +
		`data: {"type":"message_start","message":{"id":"msg_BenchMock0001","type":"message","role":"assistant","model":"claude-sonnet-4-20250514",` +
		`"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}` + "\n\n" +
		"event: content_block_start\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
		"event: ping\n" + `data: {"type":"ping"}` + "\n\n",
	tail: func(o Options, _ bool) string {
		return "event: content_block_stop\n" +
			`data: {"type":"content_block_stop","index":0}` + "\n\n" +
			"event: message_delta\n" +
			fmt.Sprintf(`data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":%d}}`, o.Chunks) + "\n\n" +
			"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
	},
	chunkA: "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`,
	chunkB: `"}}` + "\n\n",
	fail: func(status int) string {
		kind := "api_error"
		switch status {
		case 400, 422:
			kind = "invalid_request_error"
		case 401:
			kind = "authentication_error"
		case 404:
			kind = "not_found_error"
		case 429:
			kind = "rate_limit_error"
		case 529:
			kind = "overloaded_error"
		}
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"injected by mockup"},"request_id":"req_BenchMock0001"}`, kind)
	},
}

// modelList answers GET /v1/models in a form that both kinds of client read.
const modelList = `{"object":"list","data":[` +
	`{"id":"gpt-4o-mini","type":"model","object":"model","created":1750000000,"owned_by":"mock"},` +
	`{"id":"claude-sonnet-4-20250514","type":"model","object":"model","created":1750000000,"owned_by":"mock"}],"has_more":false}`

// response is a whole plain HTTP response.
func response(status int, extra, body string) []byte {
	return []byte("HTTP/1.1 " + strconv.Itoa(status) + " " + reason(status) + "\r\n" +
		"Date: Mon, 16 Jun 2025 00:00:00 GMT\r\nContent-Type: application/json\r\n" +
		"X-Request-Id: req_BenchMock0001\r\n" + extra +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

const streamHead = "HTTP/1.1 200 OK\r\n" +
	"Date: Mon, 16 Jun 2025 00:00:00 GMT\r\nContent-Type: text/event-stream; charset=utf-8\r\n" +
	"Cache-Control: no-cache\r\nX-Request-Id: req_BenchMock0001\r\n" +
	"Transfer-Encoding: chunked\r\n\r\n"

func reason(status int) string {
	switch status {
	case 200:
		return "OK"
	case 400:
		return "Bad Request"
	case 401:
		return "Unauthorized"
	case 404:
		return "Not Found"
	case 429:
		return "Too Many Requests"
	case 500:
		return "Internal Server Error"
	case 503:
		return "Service Unavailable"
	}
	return "Mocked"
}

// reply is everything that a request with the same options gets, rendered once.
type reply struct {
	options Options
	plain   []byte // a whole response, also for an error
	failed  []byte
	head    []byte // HTTP head and the events before the content
	chunk   []byte // one content chunk, unless stamped
	tail    [2][]byte
}

func (a *api) render(o Options) *reply {
	r := &reply{options: o, plain: response(200, "", a.plain(o))}
	if o.Error != 0 {
		extra := ""
		if o.RetryAfter >= 0 {
			extra = "Retry-After: " + strconv.Itoa(o.RetryAfter) + "\r\n"
		}
		r.failed = response(o.Error, extra, a.fail(o.Error))
	}
	r.head = wire.AppendChunk([]byte(streamHead), []byte(a.head))
	r.chunk = wire.AppendChunk(nil, []byte(a.chunkA+" token"+a.chunkB))
	for i := range r.tail {
		r.tail[i] = wire.AppendChunk(nil, []byte(a.tail(o, i == 1)))
		r.tail[i] = wire.AppendChunk(r.tail[i], nil)
	}
	return r
}

// stamped renders a content chunk that carries the time now, as "@nanoseconds;".
func (a *api) stamped(dst []byte, now int64) []byte {
	var event [512]byte
	e := append(event[:0], a.chunkA...)
	e = append(e, " token @"...)
	e = strconv.AppendInt(e, now, 10)
	e = append(e, ';')
	e = append(e, a.chunkB...)
	return wire.AppendChunk(dst, e)
}
