package fakellm

import "net/http"

func modelIDs() []string {
	return []string{
		"claude-opus-4-6", "claude-sonnet-4-6", "claude-haiku-4-5-20251001", "gpt-5.2", "gpt-5.2-codex", "gemini-2.5-pro", "gemini-2.5-flash",
	}
}

func (c *call) modelGet() { c.json(http.StatusOK, c.modelItem(c.ep.model)) }

func (c *call) modelList() {
	ids := modelIDs()
	items := make([]any, len(ids))
	for i, id := range ids {
		items[i] = c.modelItem(id)
	}
	switch c.ep.shape {
	case shapeGoogle:
		c.json(http.StatusOK, object{"models": items})
	case shapeAnthropic:
		c.json(http.StatusOK, object{"data": items, "has_more": false, "first_id": ids[0], "last_id": ids[len(ids)-1]})
	default:
		c.json(http.StatusOK, object{"object": "list", "data": items})
	}
}

func (c *call) modelItem(id string) object {
	switch c.ep.shape {
	case shapeGoogle:
		return object{
			"name": "models/" + id, "version": "001", "displayName": id, "inputTokenLimit": 1048576, "outputTokenLimit": 65536,
			"supportedGenerationMethods": []string{"generateContent", "countTokens"},
		}
	case shapeAnthropic:
		return object{"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"}
	}
	return object{"id": id, "object": "model", "created": 1767225600, "owned_by": "fake"}
}

// embeddings answers one vector for each input.
func (c *call) embeddings() {
	data := make([]any, c.req.inputs)
	for i := range data {
		var vector any = []float64{0.1, -0.2, 0.3, 0.4}
		if c.req.encodingFormat == "base64" {
			vector = "zczMPc3MTL6amZk+zczMPg==" // the same as little-endian float32
		}
		data[i] = object{"object": "embedding", "index": i, "embedding": vector}
	}
	u := c.usage()
	c.json(http.StatusOK, object{
		"object": "list", "data": data, "model": c.req.model,
		"usage": object{"prompt_tokens": u.Input, "total_tokens": u.Input},
	})
}
