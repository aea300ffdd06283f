package fakellm

import (
	"fmt"
	"net/http"
)

// google answers Gemini and Vertex, where the path names the model and what to
// do with it.
func (c *call) google() {
	switch c.ep.verb {
	case "rawPredict":
		if c.ep.model == "count-tokens" {
			c.countMessageTokens()
			return
		}
		c.anthropic(c.ep.model, sseNamed, false)
	case "streamRawPredict":
		c.anthropic(c.ep.model, sseNamed, true)
	case "countTokens":
		n := c.inputTokens()
		c.json(http.StatusOK, object{"totalTokens": n, "promptTokensDetails": []any{object{"modality": "TEXT", "tokenCount": n}}})
	case "embedContent":
		c.json(http.StatusOK, object{"embedding": geminiVector()})
	case "batchEmbedContents":
		vectors := make([]any, c.req.requests)
		for i := range vectors {
			vectors[i] = geminiVector()
		}
		c.json(http.StatusOK, object{"embeddings": vectors})
	case "predict":
		v := geminiVector()
		v["statistics"] = object{"token_count": 3}
		c.json(http.StatusOK, object{"predictions": []any{object{"embeddings": v}}})
	case "generateContent":
		c.gemini(false)
	case "streamGenerateContent":
		c.gemini(true)
	default:
		c.sendError(http.StatusNotFound, fmt.Sprintf("unknown action %q", c.ep.verb))
	}
}

func geminiVector() object { return object{"values": []float64{0.1, -0.2, 0.3}} }

func (c *call) gemini(stream bool) {
	finish := c.reply.Stop
	if finish == "" {
		finish = "STOP"
	}
	if !c.wantsStream(stream) {
		parts := []any{}
		if thinking := join(c.thinking()); thinking != "" {
			parts = append(parts, object{"text": thinking, "thought": true})
		}
		if text := c.text(); text != "" {
			parts = append(parts, object{"text": text})
		}
		c.json(http.StatusOK, c.geminiChunk(append(parts, c.geminiCalls()...), finish))
		return
	}
	fr := jsonArray
	if c.r.URL.Query().Get("alt") == "sse" {
		fr = sseData
	}
	c.stream(fr, c.geminiFrames(finish))
}

func (c *call) geminiFrames(finish string) []frame {
	var frames []frame
	if pieces := c.thinking(); pieces != nil {
		t := newTemplate(c.geminiChunk([]any{object{"text": slot, "thought": true}}, ""))
		frames = append(frames, t.with("", pieces)...)
	}
	if pieces := c.pieces(); pieces != nil {
		t := newTemplate(c.geminiChunk([]any{object{"text": slot}}, ""))
		frames = append(frames, t.with("", pieces)...)
	}
	for _, part := range c.geminiCalls() {
		frames = append(frames, frame{data: mustJSON(c.geminiChunk([]any{part}, ""))})
	}
	return append(frames, frame{data: mustJSON(c.geminiChunk([]any{object{"text": ""}}, finish))})
}

func (c *call) geminiCalls() []any {
	var parts []any
	for _, t := range c.reply.Tools {
		parts = append(parts, object{"functionCall": object{"name": t.Name, "args": t.object()}})
	}
	return parts
}

// geminiChunk is a whole answer, or one of a stream, with its share of parts.
func (c *call) geminiChunk(parts []any, finish string) object {
	candidate := object{"content": object{"parts": parts, "role": "model"}, "index": 0}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	a := object{"candidates": []any{candidate}, "modelVersion": c.ep.model, "responseId": c.id("fake")}
	if c.reply.NoUsage {
		return a
	}
	u := c.usage()
	usage := object{
		"promptTokenCount": u.prompt(), "candidatesTokenCount": u.Output - u.Reasoning,
		"totalTokenCount": u.prompt() + u.Output,
	}
	if u.CacheRead > 0 {
		usage["cachedContentTokenCount"] = u.CacheRead
	}
	if u.Reasoning > 0 {
		usage["thoughtsTokenCount"] = u.Reasoning
	}
	a["usageMetadata"] = usage
	return a
}
