package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// importer sends documents to a server.
type importer struct {
	*client
	set   *documentSet
	prune bool
	body  map[string]any
}

// newImporter makes the request of an import. A secret reference that the
// server has and the document does not is sent as null, so that it goes away
// there: only secrets that nobody can write down, those stored on the server,
// stay when they are left out.
func (c *client) newImporter(ctx context.Context, set *documentSet, prune bool) (*importer, error) {
	current, err := c.references(ctx)
	if err != nil {
		return nil, err
	}
	docs := make([]json.RawMessage, 0, len(set.docs))
	for _, d := range set.docs {
		var nulls []string
		for _, f := range resource.SecretFields(d.Object) {
			if *f.Value == "" && (current[refOf(d.Object)][f.Path] || slices.Contains(d.Nulls, f.Path)) {
				nulls = append(nulls, f.Path)
			}
		}
		raw, err := withNulls(d.Object, nulls)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", refOf(d.Object), err)
		}
		docs = append(docs, raw)
	}
	return &importer{client: c, set: set, prune: prune, body: map[string]any{"documents": docs}}, nil
}

// references finds the fields of the server's objects that hold secret
// references.
func (c *client) references(ctx context.Context) (map[resource.Ref]map[string]bool, error) {
	var export struct {
		Documents []json.RawMessage `json:"documents"`
	}
	if err := c.call(ctx, http.MethodGet, "/export", nil, &export, "format", "json"); err != nil {
		return nil, err
	}
	out := map[resource.Ref]map[string]bool{}
	for _, raw := range export.Documents {
		var head resource.Meta
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, fmt.Errorf("read the export of %s: %w", c.base, err)
		}
		kind, ok := resource.FindKind(head.Kind)
		if !ok {
			continue // of a newer server; the documents here have none
		}
		o := kind.New()
		if err := json.Unmarshal(raw, o); err != nil {
			return nil, fmt.Errorf("read the export of %s: %w", c.base, err)
		}
		fields := map[string]bool{}
		for _, r := range resource.SecretRefs(o) {
			fields[r.Path] = true
		}
		out[refOf(o)] = fields
	}
	return out, nil
}

// withNulls is an object as JSON with null in some fields.
func withNulls(o resource.Object, paths []string) (json.RawMessage, error) {
	raw, err := json.Marshal(o)
	if err != nil || len(paths) == 0 {
		return raw, err
	}
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&fields); err != nil {
		return nil, err
	}
	for _, path := range paths {
		at := fields
		parts := strings.Split(path, ".")
		for _, p := range parts[:len(parts)-1] {
			at, _ = at[p].(map[string]any)
		}
		if at != nil {
			at[parts[len(parts)-1]] = nil
		}
	}
	return json.Marshal(fields)
}

// run sends the import and says what it does.
func (i *importer) run(ctx context.Context, dryRun bool) (*plan, error) {
	p := &plan{}
	err := i.call(ctx, http.MethodPost, "/import", i.body, p, "dryRun", strconv.FormatBool(dryRun), "prune", strconv.FormatBool(i.prune))
	if err != nil {
		return nil, i.located(err)
	}
	p.sort()
	return p, nil
}

// located turns what the server finds wrong into problems with their places in
// the files.
func (i *importer) located(err error) error {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		return err
	}
	var problems resource.Problems
	for _, f := range e.Errors {
		p := resource.Problem{Code: f.Code, Path: f.Path, Message: f.Message}
		if f.Object != nil {
			p.Object = *f.Object
		}
		if d, path := i.document(f.Path); d != nil {
			p.Object, p.Path, p.Pos = refOf(d.Object), path, d.Locate(path)
		}
		problems = append(problems, p)
	}
	for _, d := range i.set.docs { // a refusal of one object begins with its name
		if message, ok := strings.CutPrefix(e.Detail, refOf(d.Object).String()+" "); ok && len(problems) == 0 {
			problems = append(problems, resource.Problem{Code: e.Code, Object: refOf(d.Object), Message: "it " + message, Pos: d.Locate("")})
		}
	}
	if len(problems) == 0 {
		return err
	}
	i.set.problems = problems
	return problems
}

// document finds the document that a path such as documents[3].members[0] is
// in, and the path inside it.
func (i *importer) document(path string) (d *resource.Document, inside string) {
	rest, ok := strings.CutPrefix(path, "documents[")
	digits, rest, closed := strings.Cut(rest, "]")
	n, err := strconv.Atoi(digits)
	if !ok || !closed || err != nil || n < 0 || n >= len(i.set.docs) {
		return nil, path
	}
	return &i.set.docs[n], strings.TrimPrefix(rest, ".")
}
