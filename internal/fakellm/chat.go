package fakellm

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

type chatAnswer struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	SystemFingerprint string       `json:"system_fingerprint"`
	Choices           []chatChoice `json:"choices"`
	// Usage is absent, null or an object; a stream needs all three.
	Usage json.RawMessage `json:"usage,omitempty"`
}

type chatChoice struct {
	Index        int          `json:"index"`
	Message      *chatMessage `json:"message,omitempty"`
	Delta        *chatDelta   `json:"delta,omitempty"`
	Logprobs     *struct{}    `json:"logprobs"`
	FinishReason *string      `json:"finish_reason"`
}

type chatMessage struct {
	Role             string         `json:"role"`
	Content          *string        `json:"content"`
	Refusal          *string        `json:"refusal"`
	ReasoningContent string         `json:"reasoning_content,omitempty"`
	ToolCalls        []chatToolCall `json:"tool_calls,omitempty"`
}

type chatDelta struct {
	Role             string         `json:"role,omitempty"`
	Content          *string        `json:"content,omitempty"`
	ReasoningContent *string        `json:"reasoning_content,omitempty"`
	ToolCalls        []chatToolCall `json:"tool_calls,omitempty"`
}

type chatToolCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatUsage struct {
	PromptTokens     int               `json:"prompt_tokens"`
	CompletionTokens int               `json:"completion_tokens"`
	TotalTokens      int               `json:"total_tokens"`
	PromptDetails    chatPromptDetails `json:"prompt_tokens_details"`
	OutputDetails    chatOutputDetails `json:"completion_tokens_details"`
}

type chatPromptDetails struct {
	CachedTokens     int `json:"cached_tokens"`
	CacheWriteTokens int `json:"cache_write_tokens,omitempty"`
	AudioTokens      int `json:"audio_tokens"`
}

type chatOutputDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"`
}

// chat answers OpenAI Chat Completions.
func (c *call) chat() {
	finish := c.reply.Stop
	if finish == "" {
		finish = "stop"
		if len(c.reply.Tools) > 0 {
			finish = "tool_calls"
		}
	}
	a := chatAnswer{
		ID: c.id("chatcmpl-fake"), Object: "chat.completion", Created: time.Now().Unix(),
		Model: c.req.model, SystemFingerprint: "fp_fake",
	}
	if c.wantsStream(c.req.stream) {
		a.Object = "chat.completion.chunk"
		c.stream(sseData, c.chatFrames(a, finish))
		return
	}
	m := &chatMessage{Role: "assistant", ReasoningContent: join(c.thinking())}
	if text := c.text(); text != "" {
		m.Content = &text
	}
	for i, t := range c.reply.Tools {
		m.ToolCalls = append(m.ToolCalls, chatToolCall{
			ID: c.partID("call_fake", i), Type: "function", Function: chatFunction{t.Name, string(t.Input)},
		})
	}
	a.Choices = []chatChoice{{Message: m, FinishReason: &finish}}
	a.Usage = c.chatUsage()
	c.json(http.StatusOK, a)
}

func (c *call) chatUsage() json.RawMessage {
	if c.reply.NoUsage {
		return nil
	}
	u := c.usage()
	return mustJSON(chatUsage{
		PromptTokens: u.prompt(), CompletionTokens: u.Output, TotalTokens: u.prompt() + u.Output,
		PromptDetails: chatPromptDetails{CachedTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite},
		OutputDetails: chatOutputDetails{ReasoningTokens: u.Reasoning},
	})
}

// chatFrames is the chunk sequence; a holds what all chunks share.
func (c *call) chatFrames(a chatAnswer, finish string) []frame {
	withUsage := c.req.includeUsage && !c.reply.NoUsage
	if withUsage {
		a.Usage = json.RawMessage("null")
	}
	chunk := func(d chatDelta, finish *string) any {
		a.Choices = []chatChoice{{Delta: &d, FinishReason: finish}}
		return a
	}
	plain := func(d chatDelta) frame { return frame{data: mustJSON(chunk(d, nil))} }

	none, open := "", slot
	frames := []frame{plain(chatDelta{Role: "assistant", Content: &none})}
	frames[0].preamble = true
	if pieces := c.thinking(); pieces != nil {
		frames = append(frames, newTemplate(chunk(chatDelta{ReasoningContent: &open}, nil)).with("", pieces)...)
	}
	if pieces := c.pieces(); pieces != nil {
		frames = append(frames, newTemplate(chunk(chatDelta{Content: &open}, nil)).with("", pieces)...)
	}
	for i, t := range c.reply.Tools {
		frames = append(frames, plain(chatDelta{ToolCalls: []chatToolCall{
			{Index: &i, ID: c.partID("call_fake", i), Type: "function", Function: chatFunction{Name: t.Name}},
		}}))
		part := newTemplate(chunk(chatDelta{ToolCalls: []chatToolCall{{Index: &i, Function: chatFunction{Arguments: slot}}}}, nil))
		frames = append(frames, part.with("", splitEvery(string(t.Input), pieceRunes))...)
	}
	frames = append(frames, frame{data: mustJSON(chunk(chatDelta{}, &finish))})
	if withUsage {
		a.Choices, a.Usage = []chatChoice{}, c.chatUsage()
		frames = append(frames, frame{data: mustJSON(a)})
	}
	return append(frames, frame{data: []byte("[DONE]")})
}

func join(pieces []string) string { return strings.Join(pieces, "") }
