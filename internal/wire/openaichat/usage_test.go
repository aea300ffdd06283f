package openaichat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/openaichat"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

func TestUsage_RS_AUDIT_counts_cached_tokens_once(t *testing.T) {
	want := llm.Usage{Input: 15, CachedRead: 80, CachedWrite: 5, Output: 30, Reasoning: 10}
	const usage = `"usage":{"prompt_tokens":100,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":80,"cache_write_tokens":5},"completion_tokens_details":{"reasoning_tokens":10}}`
	if d := cmp.Diff(want, wiretest.Usage(openaichat.New(), []byte(`{"choices":[],`+usage+`}`))); d != "" {
		t.Errorf("whole (-want +got):\n%s", d)
	}
	var e wire.Envelope
	r := openaichat.New().NewStream(&e)
	for _, data := range []string{`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":null}`, `{"choices":[],` + usage + `}`, `[DONE]`} {
		r.Kind(&wire.Event{HasData: true, Data: []byte(data)})
	}
	if d := cmp.Diff(want, r.Usage()); d != "" {
		t.Errorf("stream (-want +got):\n%s", d)
	}
}

func TestUsage_of_nonsense_is_none(t *testing.T) {
	for _, body := range []string{`{"usage":null}`, `{"usage":{"prompt_tokens":-5}}`, `{"usage":"x"}`, `no`, `{}`} {
		if got := wiretest.Usage(openaichat.New(), []byte(body)); got != (llm.Usage{}) {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
