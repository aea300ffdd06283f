package fakellm

import (
	"net/http"
	"time"
)

// responses answers OpenAI Responses over HTTP.
func (c *call) responses() {
	final, frames := c.responseEvents()
	if !c.wantsStream(c.req.stream) {
		c.json(http.StatusOK, final)
		return
	}
	c.stream(sseNamed, frames)
}

func (c *call) countResponseTokens() {
	c.json(http.StatusOK, object{"object": "response.input_tokens", "input_tokens": c.inputTokens()})
}

// responseStream builds the output items and the events that tell of them.
type responseStream struct {
	c      *call
	frames []frame
	output []any
}

func (b *responseStream) add(typ string, event object) {
	event["type"], event["sequence_number"] = typ, len(b.frames)
	b.frames = append(b.frames, frame{name: typ, data: mustJSON(event)})
}

// item adds one output item: open is how it starts, middle adds the events
// while it grows, done is how it ends.
func (b *responseStream) item(open object, middle func(output int), done object) {
	i := len(b.output)
	b.add("response.output_item.added", object{"output_index": i, "item": open})
	middle(i)
	b.add("response.output_item.done", object{"output_index": i, "item": done})
	b.output = append(b.output, done)
}

// responseEvents builds the response object and its event sequence.
func (c *call) responseEvents() (final object, frames []frame) {
	b := &responseStream{c: c, output: []any{}}
	created := time.Now().Unix()
	b.add("response.created", object{"response": c.responseObject(created, "in_progress", b.output, nil)})
	b.add("response.in_progress", object{"response": c.responseObject(created, "in_progress", b.output, nil)})
	for i := range b.frames {
		b.frames[i].preamble = true
	}
	b.reasoning()
	b.message()
	b.toolCalls()
	status := "completed"
	if c.incomplete() {
		status = "incomplete"
	}
	final = c.responseObject(created, status, b.output, c.responseUsage())
	if c.incomplete() {
		final["incomplete_details"] = object{"reason": c.reply.Stop}
	}
	b.add("response."+status, object{"response": final})
	return final, b.frames
}

// incomplete tells whether the answer stops early; the stop reasons of other
// dialects, which a rule for all of them may have, are none here.
func (c *call) incomplete() bool {
	return c.reply.Stop == "max_output_tokens" || c.reply.Stop == "content_filter"
}

func (c *call) responseObject(created int64, status string, output []any, usage any) object {
	return object{
		"id": c.id("resp_fake"), "object": "response", "created_at": created, "status": status, "error": nil,
		"incomplete_details": nil, "instructions": nil, "max_output_tokens": nil, "model": c.req.model, "output": output,
		"parallel_tool_calls": true, "previous_response_id": nil, "reasoning": object{"effort": nil, "summary": nil},
		"store": false, "temperature": 1, "text": object{"format": object{"type": "text"}}, "tool_choice": "auto",
		"tools": []any{}, "top_p": 1, "truncation": "disabled", "usage": usage, "metadata": object{},
	}
}

func (c *call) responseUsage() any {
	if c.reply.NoUsage {
		return nil
	}
	u := c.usage()
	in := object{"cached_tokens": u.CacheRead}
	if u.CacheWrite > 0 {
		in["cache_write_tokens"] = u.CacheWrite
	}
	return object{
		"input_tokens": u.prompt(), "input_tokens_details": in,
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		"total_tokens": u.prompt() + u.Output,
	}
}

func (b *responseStream) reasoning() {
	pieces, encrypted := b.c.thinking(), b.c.reply.Encrypted
	if pieces == nil && encrypted == "" {
		return
	}
	id, text := b.c.id("rs_fake"), join(pieces)
	part := object{"type": "summary_text", "text": text}
	item := func(encrypted string, summary ...any) object {
		o := object{"id": id, "type": "reasoning", "summary": append([]any{}, summary...)}
		if encrypted != "" {
			o["encrypted_content"] = encrypted
		}
		return o
	}
	// The first copy of what is encrypted is cut short, as OpenAI's can be.
	open := item(encrypted[:len(encrypted)/2])
	if pieces == nil {
		b.item(open, func(int) {}, item(encrypted))
		return
	}
	b.item(open, func(output int) {
		at := func(event object) object {
			event["item_id"], event["output_index"], event["summary_index"] = id, output, 0
			return event
		}
		b.add("response.reasoning_summary_part.added", at(object{"part": object{"type": "summary_text", "text": ""}}))
		for _, p := range pieces {
			b.add("response.reasoning_summary_text.delta", at(object{"delta": p}))
		}
		b.add("response.reasoning_summary_text.done", at(object{"text": text}))
		b.add("response.reasoning_summary_part.done", at(object{"part": part}))
	}, item(encrypted, part))
}

func (b *responseStream) message() {
	pieces := b.c.pieces()
	if pieces == nil {
		return
	}
	id, text := b.c.id("msg_fake"), join(pieces)
	full := object{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
	item := func(status string, content ...any) object {
		if content == nil {
			content = []any{}
		}
		return object{"id": id, "type": "message", "status": status, "role": "assistant", "content": content}
	}
	b.item(item("in_progress"), func(output int) {
		at := func(event object) object {
			event["item_id"], event["output_index"], event["content_index"] = id, output, 0
			return event
		}
		b.add("response.content_part.added", at(object{"part": object{"type": "output_text", "text": "", "annotations": []any{}}}))
		for _, p := range pieces {
			b.add("response.output_text.delta", at(object{"delta": p, "logprobs": []any{}}))
		}
		b.add("response.output_text.done", at(object{"text": text, "logprobs": []any{}}))
		b.add("response.content_part.done", at(object{"part": full}))
	}, item("completed", full))
}

func (b *responseStream) toolCalls() {
	for i, t := range b.c.reply.Tools {
		id, arguments := b.c.partID("fc_fake", i), string(t.Input)
		item := func(status, arguments string) object {
			return object{
				"id": id, "type": "function_call", "status": status, "arguments": arguments,
				"call_id": b.c.partID("call_fake", i), "name": t.Name,
			}
		}
		b.item(item("in_progress", ""), func(output int) {
			for _, p := range splitEvery(arguments, pieceRunes) {
				b.add("response.function_call_arguments.delta", object{"item_id": id, "output_index": output, "delta": p})
			}
			b.add("response.function_call_arguments.done",
				object{"item_id": id, "output_index": output, "name": t.Name, "arguments": arguments})
		}, item("completed", arguments))
	}
}
