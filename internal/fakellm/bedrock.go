package fakellm

import "net/http"

// bedrock answers InvokeModel for Claude, which carries Anthropic bodies, and
// Converse, which has its own.
func (c *call) bedrock() {
	switch c.ep.verb {
	case "invoke":
		u := c.usage()
		c.w.Header().Set("X-Amzn-Bedrock-Input-Token-Count", intText(u.Input))
		c.w.Header().Set("X-Amzn-Bedrock-Output-Token-Count", intText(u.Output))
		c.anthropic(c.ep.model, sseNamed, false)
	case "invoke-with-response-stream":
		c.w.Header().Set("X-Amzn-Bedrock-Content-Type", "application/json")
		c.anthropic(c.ep.model, awsInvoke, true)
	case "count-tokens":
		c.json(http.StatusOK, object{"inputTokens": c.inputTokens()})
	case "converse":
		c.converse()
	case "converse-stream":
		if c.wantsStream(true) {
			c.stream(awsTyped, c.converseFrames())
			return
		}
		c.converse()
	}
}

func (c *call) converse() {
	content := []any{}
	if thinking := join(c.thinking()); thinking != "" {
		content = append(content, object{"reasoningContent": object{"reasoningText": object{"text": thinking, "signature": thinkingSignature}}})
	}
	if text := c.text(); text != "" {
		content = append(content, object{"text": text})
	}
	for i, t := range c.reply.Tools {
		content = append(content, object{"toolUse": object{"toolUseId": c.partID("tooluse_fake", i), "name": t.Name, "input": t.object()}})
	}
	answer := c.converseEnd()
	answer["output"] = object{"message": object{"role": "assistant", "content": content}}
	answer["stopReason"] = c.converseStop()
	c.json(http.StatusOK, answer)
}

func (c *call) converseStop() string {
	switch {
	case c.reply.Stop != "":
		return c.reply.Stop
	case len(c.reply.Tools) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// converseEnd is what an answer and the last event of a stream share.
func (c *call) converseEnd() object {
	o := object{"metrics": object{"latencyMs": 5}}
	if c.reply.NoUsage {
		return o
	}
	u := c.usage()
	usage := object{"inputTokens": u.Input, "outputTokens": u.Output, "totalTokens": u.prompt() + u.Output}
	if u.CacheRead > 0 {
		usage["cacheReadInputTokens"] = u.CacheRead
	}
	if u.CacheWrite > 0 {
		usage["cacheWriteInputTokens"] = u.CacheWrite
	}
	o["usage"] = usage
	return o
}

func (c *call) converseFrames() []frame {
	var frames []frame
	add := func(name string, event object) { frames = append(frames, frame{name: name, data: mustJSON(event)}) }
	block := 0
	deltas := func(delta object, pieces []string) {
		const name = "contentBlockDelta"
		t := newTemplate(object{"contentBlockIndex": block, "delta": delta})
		frames = append(frames, t.with(name, pieces)...)
		add("contentBlockStop", object{"contentBlockIndex": block})
		block++
	}
	add("messageStart", object{"role": "assistant"})
	frames[0].preamble = true
	if pieces := c.thinking(); pieces != nil {
		deltas(object{"reasoningContent": object{"text": slot}}, pieces)
	}
	if pieces := c.pieces(); pieces != nil {
		deltas(object{"text": slot}, pieces)
	}
	for i, t := range c.reply.Tools {
		add("contentBlockStart", object{"contentBlockIndex": block, "start": object{
			"toolUse": object{"toolUseId": c.partID("tooluse_fake", i), "name": t.Name},
		}})
		deltas(object{"toolUse": object{"input": slot}}, splitEvery(string(t.Input), pieceRunes))
	}
	add("messageStop", object{"stopReason": c.converseStop()})
	add("metadata", c.converseEnd())
	return frames
}
