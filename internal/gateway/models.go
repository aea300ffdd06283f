package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// models answers GET /v1/models and /v1/models/{id} in the shape of the
// caller. What is listed is what the caller can use, found by the same decision.
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
	shape := shapeFor(r)
	names := routing.Models(ex.live.Routing, ex.caller.Facts(), g.endpoints(shape.only))
	id := r.PathValue("model")
	if id == "" {
		writeJSON(w, 200, shape.list(ex.live.Models, names, r))
		return
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, id) })
	if i < 0 {
		ex.refuse(refusal{status: 404, code: "model_not_found", message: fmt.Sprintf("there is no model %q for this key", clipText(hideKeys(id), 120))})
		return
	}
	writeJSON(w, 200, shape.item(ex.live.Models, names[i]))
}

// endpoints are all that a model could be called on, or those of one format.
func (g *Gateway) endpoints(only llm.Format) []*llm.Endpoint {
	var out []*llm.Endpoint
	for _, f := range g.opt.Formats {
		for _, e := range f.Endpoints {
			if e.Counts && (only == "" || e.Format == only) { // counting tokens is no use of a model
				out = append(out, e)
			}
		}
	}
	return out
}

// hideKeys takes what looks like a key out of a path or a name that a message
// shows: a client that mixes up its settings puts one anywhere.
func hideKeys(path string) string {
	if !resource.LooksSecret(path) && !strings.Contains(path, "sk-") {
		return path
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if resource.LooksSecret(p) {
			parts[i] = "***"
		}
	}
	return strings.Join(parts, "/")
}

// modelShape is how one kind of caller wants to be told of models.
type modelShape struct {
	// only is the format that the caller can call; empty is every one.
	only llm.Format
	list func(known *catalog.Models, names []string, r *http.Request) any
	item func(known *catalog.Models, name string) any
}

// shapeFor finds the shape by what the vendors' own clients send.
func shapeFor(r *http.Request) modelShape {
	item := func(shape func(string) any) func(*catalog.Models, string) any {
		return func(_ *catalog.Models, name string) any { return shape(name) }
	}
	switch {
	case r.Header.Get("Anthropic-Version") != "":
		list := func(_ *catalog.Models, names []string, r *http.Request) any { return anthropicList(names, r) }
		return modelShape{list: list, item: item(anthropicModel)}
	case hasGoogleKey(r):
		return modelShape{list: geminiList, item: geminiModel}
	case r.URL.Query().Has("client_version"):
		return modelShape{only: llm.OpenAIResponses, list: codexList, item: item(openAIModel)}
	}
	return modelShape{list: openAIList, item: item(openAIModel)}
}

// knownModel is what the table of models says of a name; nothing of one that it
// does not have.
func knownModel(known *catalog.Models, name string) (m catalog.Model) {
	if known != nil {
		m, _ = known.Find("", name)
	}
	return m
}

// catalogued stands for the creation time of a model, which is not known.
const catalogued = 1767225600 // 2026-01-01

func openAIModel(id string) any {
	return map[string]any{"id": id, "object": "model", "created": catalogued, "owned_by": "interlock"}
}

func openAIList(_ *catalog.Models, names []string, _ *http.Request) any {
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = openAIModel(n)
	}
	return map[string]any{"object": "list", "data": list}
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
