package fakellm

import (
	"encoding/json"
	"net/http"
)

type anthropicMessage struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Role         string           `json:"role"`
	Model        string           `json:"model"`
	Content      []anthropicBlock `json:"content"`
	StopReason   *string          `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        *anthropicUsage  `json:"usage,omitempty"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

type anthropicUsage struct {
	InputTokens         int    `json:"input_tokens"`
	CacheCreationTokens int    `json:"cache_creation_input_tokens"`
	CacheReadTokens     int    `json:"cache_read_input_tokens"`
	OutputTokens        int    `json:"output_tokens"`
	ServiceTier         string `json:"service_tier"`
}

type anthropicEvent struct {
	Type         string            `json:"type"`
	Message      *anthropicMessage `json:"message,omitempty"`
	Index        *int              `json:"index,omitempty"`
	ContentBlock *anthropicBlock   `json:"content_block,omitempty"`
	Delta        any               `json:"delta,omitempty"`
	Usage        *anthropicOutput  `json:"usage,omitempty"`
}

type anthropicOutput struct {
	OutputTokens int `json:"output_tokens"`
}

type anthropicDelta struct {
	Type        string  `json:"type"`
	Text        *string `json:"text,omitempty"`
	Thinking    *string `json:"thinking,omitempty"`
	Signature   *string `json:"signature,omitempty"`
	PartialJSON *string `json:"partial_json,omitempty"`
}

type anthropicStop struct {
	StopReason   string  `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

const thinkingSignature = "ZmFrZS1zaWduYXR1cmU="

func (c *call) messages() { c.anthropic(c.req.model, sseNamed, c.req.stream) }

func (c *call) countMessageTokens() {
	c.json(http.StatusOK, object{"input_tokens": c.inputTokens()})
}

// anthropic answers a Messages request. Bedrock and Vertex carry the same
// bodies in frames of their own.
func (c *call) anthropic(model string, fr framing, stream bool) {
	stop := c.reply.Stop
	if stop == "" {
		stop = "end_turn"
		if len(c.reply.Tools) > 0 {
			stop = "tool_use"
		}
	}
	msg := &anthropicMessage{
		ID: c.id("msg_fake"), Type: "message", Role: "assistant", Model: model,
		Content: []anthropicBlock{}, Usage: c.anthropicUsage(),
	}
	if c.wantsStream(stream) {
		c.stream(fr, c.anthropicFrames(msg, stop))
		return
	}
	msg.StopReason = &stop
	if c.reply.Thinking != "" {
		thinking, signature := join(c.thinking()), thinkingSignature
		msg.Content = append(msg.Content, anthropicBlock{Type: "thinking", Thinking: &thinking, Signature: &signature})
	}
	if text := c.text(); text != "" {
		msg.Content = append(msg.Content, anthropicBlock{Type: "text", Text: &text})
	}
	for i, t := range c.reply.Tools {
		msg.Content = append(msg.Content, anthropicBlock{Type: "tool_use", ID: c.partID("toolu_fake", i), Name: t.Name, Input: t.object()})
	}
	c.json(http.StatusOK, msg)
}

func (c *call) anthropicUsage() *anthropicUsage {
	if c.reply.NoUsage {
		return nil
	}
	u := c.usage()
	return &anthropicUsage{u.Input, u.CacheWrite, u.CacheRead, u.Output, "standard"}
}

// anthropicFrames is the event sequence; msg is its shell, without content.
func (c *call) anthropicFrames(msg *anthropicMessage, stop string) []frame {
	final := &anthropicOutput{}
	if msg.Usage == nil {
		final = nil
	} else {
		// As Anthropic does: the input is final at the start, the output a
		// placeholder there and complete at the end.
		final.OutputTokens, msg.Usage.OutputTokens = msg.Usage.OutputTokens, 1
	}
	b := anthropicStream{pings: 1 + c.reply.Pings}
	b.add(anthropicEvent{Type: "message_start", Message: msg})
	b.frames[0].preamble = true

	open := slot
	if pieces := c.thinking(); pieces != nil {
		none := ""
		b.block(anthropicBlock{Type: "thinking", Thinking: &none, Signature: &none},
			anthropicDelta{Type: "thinking_delta", Thinking: &open}, pieces)
		signature := thinkingSignature
		b.delta(anthropicDelta{Type: "signature_delta", Signature: &signature})
		b.end()
	}
	if pieces := c.pieces(); pieces != nil {
		none := ""
		b.block(anthropicBlock{Type: "text", Text: &none}, anthropicDelta{Type: "text_delta", Text: &open}, pieces)
		b.end()
	}
	for i, t := range c.reply.Tools {
		b.block(anthropicBlock{Type: "tool_use", ID: c.partID("toolu_fake", i), Name: t.Name, Input: json.RawMessage("{}")},
			anthropicDelta{Type: "input_json_delta", PartialJSON: &open}, splitEvery(string(t.Input), pieceRunes))
		b.end()
	}
	b.add(anthropicEvent{Type: "message_delta", Delta: anthropicStop{StopReason: stop}, Usage: final})
	b.add(anthropicEvent{Type: "message_stop"})
	return b.frames
}

// anthropicStream collects the events of a stream, block after block.
type anthropicStream struct {
	frames []frame
	index  int // of the block that is open
	pings  int // still to send, after the start of the first block
}

func (b *anthropicStream) add(e anthropicEvent) {
	b.frames = append(b.frames, frame{name: e.Type, data: mustJSON(e)})
}

// block opens a content block and sends pieces as its deltas.
func (b *anthropicStream) block(start anthropicBlock, delta anthropicDelta, pieces []string) {
	b.add(anthropicEvent{Type: "content_block_start", Index: &b.index, ContentBlock: &start})
	for ; b.pings > 0; b.pings-- {
		b.add(anthropicEvent{Type: "ping"})
	}
	const name = "content_block_delta"
	t := newTemplate(anthropicEvent{Type: name, Index: &b.index, Delta: delta})
	b.frames = append(b.frames, t.with(name, pieces)...)
}

func (b *anthropicStream) delta(d anthropicDelta) {
	b.add(anthropicEvent{Type: "content_block_delta", Index: &b.index, Delta: d})
}

func (b *anthropicStream) end() {
	b.add(anthropicEvent{Type: "content_block_stop", Index: &b.index})
	b.index++
}
