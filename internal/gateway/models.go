package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// models answers GET /v1/models and /v1/models/{id} in the shape of the
// caller: Anthropic's with an anthropic-version header, else OpenAI's. What is
// listed is what the caller can use, found by the same decision.
func (g *Gateway) models(w http.ResponseWriter, r *http.Request) {
	ex := g.bare(w, r)
	defer ex.over()
	ex.endpoint, ex.settled = &llm.Endpoint{ID: "models"}, false // a refusal is recorded: keys can be tried here as well
	if ex.live = g.opt.Live(); ex.live == nil {
		ex.refuse(notLoaded(""))
		return
	}
	if !ex.authenticate() {
		return
	}
	names := routing.Models(ex.live.Routing, ex.caller.Facts(), g.endpoints())
	anthropic := r.Header.Get("Anthropic-Version") != ""
	if id := r.PathValue("model"); id != "" {
		i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, id) })
		if i < 0 {
			ex.refuse(refusal{status: 404, code: "model_not_found", message: fmt.Sprintf("there is no model %q for this key", clipText(id, 120))})
			return
		}
		if anthropic {
			writeJSON(w, 200, anthropicModel(names[i]))
		} else {
			writeJSON(w, 200, openAIModel(names[i]))
		}
		return
	}
	if anthropic {
		writeJSON(w, 200, anthropicList(names, r))
		return
	}
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = openAIModel(n)
	}
	writeJSON(w, 200, map[string]any{"object": "list", "data": list})
}

// endpoints are all that a model could be called on.
func (g *Gateway) endpoints() []*llm.Endpoint {
	var out []*llm.Endpoint
	for _, f := range g.opt.Formats {
		for _, e := range f.Endpoints {
			if e.Counts { // counting tokens is no use of a model
				out = append(out, e)
			}
		}
	}
	return out
}

// catalogued stands for the creation time of a model, which is not known.
const catalogued = 1767225600 // 2026-01-01

func openAIModel(id string) any {
	return map[string]any{"id": id, "object": "model", "created": catalogued, "owned_by": "interlock"}
}

func anthropicModel(id string) any {
	return map[string]any{"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"}
}

// anthropicList pages by after_id, before_id and limit (1 to 1000, default
// 20), as the vendor does.
func anthropicList(names []string, r *http.Request) any {
	q := r.URL.Query()
	limit := 20
	if n, err := strconv.Atoi(q.Get("limit")); err == nil {
		limit = min(max(1, n), 1000)
	}
	from, to := 0, len(names)
	if id := q.Get("after_id"); id != "" {
		from = slices.Index(names, id) + 1
	}
	backwards := false
	if id := q.Get("before_id"); id != "" {
		if i := slices.Index(names, id); i >= 0 {
			to, backwards = i, true
		}
	}
	more := to-from > limit
	if more && backwards {
		from = to - limit
	} else if more {
		to = from + limit
	}
	page := names[min(from, to):to]
	data := make([]any, len(page))
	for i, n := range page {
		data[i] = anthropicModel(n)
	}
	var first, last any
	if len(page) > 0 {
		first, last = page[0], page[len(page)-1]
	}
	return map[string]any{"data": data, "has_more": more, "first_id": first, "last_id": last}
}
