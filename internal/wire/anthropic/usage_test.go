package anthropic_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/anthropic"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

func TestUsage_RS_AUDIT_of_a_stream_keeps_the_last_value_of_each_figure(t *testing.T) {
	var e wire.Envelope
	r := anthropic.New().NewStream(&e)
	for _, ev := range []wire.Event{
		{Name: []byte("message_start"), HasData: true, Data: []byte(`{"type":"message_start","message":{"usage":{"input_tokens":12,"cache_read_input_tokens":2048,"cache_creation_input_tokens":7,"output_tokens":1}}}`)},
		{Name: []byte("content_block_delta"), HasData: true, Data: []byte(`{"type":"content_block_delta","delta":{"text":"\"usage\":{\"input_tokens\":999}"}}`)},
		{Name: []byte("message_delta"), HasData: true, Data: []byte(`{"type":"message_delta","usage":{"input_tokens":null,"output_tokens":50,"output_tokens_details":{"thinking_tokens":20}}}`)},
		{Name: []byte("message_stop"), HasData: true, Data: []byte(`{"type":"message_stop"}`)},
	} {
		r.Kind(&ev)
	}
	if d := cmp.Diff(llm.Usage{Input: 12, CachedRead: 2048, CachedWrite: 7, Output: 50, Reasoning: 20}, r.Usage()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestUsage_of_a_whole_answer(t *testing.T) {
	got := wiretest.Usage(anthropic.New(), []byte(`{"type":"message","content":[{"type":"text","text":"usage"}],"usage":{"input_tokens":3,"cache_read_input_tokens":null,"output_tokens":4}}`))
	if d := cmp.Diff(llm.Usage{Input: 3, Output: 4}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := wiretest.Usage(anthropic.New(), []byte(`not json`)); got != (llm.Usage{}) {
		t.Errorf("of nonsense: %+v", got)
	}
}
