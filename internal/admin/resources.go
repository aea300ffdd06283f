package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// objectOut is an answer with one object.
type objectOut struct {
	Status   int
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     json.RawMessage
}

// changeSet says what a change did or would do.
type changeSet struct {
	// Changes are the objects that differ, field by field.
	Changes []control.Diff `json:"changes"`
	// Revision is the configuration version that holds the change; that of a
	// dry run is not made.
	Revision int64 `json:"revision"`
	// Warnings say what of the objects would be stored and have no effect.
	Warnings []string `json:"warnings,omitempty"`
}

func changesOf(r *control.Result) changeSet {
	out := changeSet{Changes: append([]control.Diff{}, r.Changes...), Revision: r.Revision}
	for _, o := range r.Objects {
		texts, _ := o.Extra["warnings"].([]string)
		for _, text := range texts {
			if len(r.Objects) > 1 {
				text = fmt.Sprintf("%s %q: %s", o.Head().Kind, o.Head().Name, text)
			}
			out.Warnings = append(out.Warnings, text)
		}
	}
	return out
}

// changeOut is an answer with a change, or none at all.
type changeOut struct {
	Status int
	Body   *changeSet
}

// NameParams name an object.
type NameParams struct {
	Name string `path:"name" doc:"The name, percent-encoded; for what has an id, the id or the name."`
}

type (
	createIn struct {
		WriteParams
		RawBody []byte
	}
	putIn struct {
		NameParams
		WriteParams
		MatchParams
		NewParams
		RawBody []byte
	}
	deleteIn struct {
		NameParams
		WriteParams
		MatchParams
	}
)

// registerResource declares the operations of a kind.
func (s *server) registerResource(r Resource) {
	answer, input := s.kindSchemas(r)
	switch {
	case r.Single:
		s.registerSingle(r, answer, input)
		return
	case r.Kind == "Key":
		s.registerRead(r, answer)
		s.registerKeys(r, answer, input)
		return
	}
	s.registerRead(r, answer)
	change := schemaOf[changeSet](s)
	noun := strings.ToLower(r.Kind)
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "create" + r.Kind, Method: http.MethodPost, Path: "/" + r.Plural, Tags: []string{r.Tag}, DefaultStatus: http.StatusCreated,
			Summary: "Create a " + noun, Description: "409 if the name is taken. A dry run answers 200 with what it would change.",
		},
		role: RoleAdmin, body: input, errors: []int{http.StatusConflict},
		answers: map[int]map[string]*huma.MediaType{http.StatusCreated: jsonBody(answer), http.StatusOK: jsonBody(change)},
	}, func(ctx context.Context, in *createIn) (*objectOut, error) { return s.create(ctx, r, in) })
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "put" + r.Kind, Method: http.MethodPut, Path: "/" + r.Plural + "/{name}", Tags: []string{r.Tag}, DefaultStatus: http.StatusOK,
			Summary: "Replace or create a " + noun, Description: "What the body leaves out is reset, but for secrets, which keep their stored value. 201 if it was not there. A dry run answers 200 with what it would change.",
		},
		role: RoleAdmin, body: input, errors: []int{http.StatusConflict, http.StatusPreconditionFailed},
		answers: map[int]map[string]*huma.MediaType{
			http.StatusCreated: jsonBody(answer), http.StatusOK: jsonBody(&huma.Schema{OneOf: []*huma.Schema{answer, change}}),
		},
	}, func(ctx context.Context, in *putIn) (*objectOut, error) { return s.put(ctx, r, in) })
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "delete" + r.Kind, Method: http.MethodDelete, Path: "/" + r.Plural + "/{name}", Tags: []string{r.Tag}, DefaultStatus: http.StatusNoContent,
			Summary: "Delete a " + noun, Description: "409 with every user of it in refs if something uses it. A dry run answers 200 with what it would change.",
		},
		role: RoleAdmin, errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed},
		answers: map[int]map[string]*huma.MediaType{http.StatusNoContent: nil, http.StatusOK: jsonBody(change)},
	}, func(ctx context.Context, in *deleteIn) (*changeOut, error) { return s.delete(ctx, r, in) })
}

// registerRead declares list and get.
func (s *server) registerRead(r Resource, answer *huma.Schema) {
	register(s, operation{
		Operation: huma.Operation{OperationID: "list" + strings.ToUpper(r.Plural[:1]) + r.Plural[1:], Method: http.MethodGet, Path: "/" + r.Plural, Tags: []string{r.Tag}, Summary: "List " + r.Plural},
		role:      RoleViewer,
		answers:   map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(listSchema(answer))},
	}, func(ctx context.Context, in *listIn) (*listOut, error) {
		objects, err := s.opt.Control.List(ctx, r.Kind)
		if err != nil {
			return nil, err
		}
		if r.Kind == "Route" {
			objects = append(objects, s.derivedRoutes()...)
		}
		body, err := pageOf(objects, in, func(o *control.Object) { s.withStates(o) })
		if err != nil {
			return nil, err
		}
		return &listOut{Body: *body}, nil
	})
	register(s, operation{
		Operation: huma.Operation{OperationID: "get" + r.Kind, Method: http.MethodGet, Path: "/" + r.Plural + "/{name}", Tags: []string{r.Tag}, Summary: "Show a " + strings.ToLower(r.Kind)},
		role:      RoleViewer, errors: []int{http.StatusNotFound},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(answer)},
	}, func(ctx context.Context, in *NameParams) (*objectOut, error) {
		o, err := s.opt.Control.Get(ctx, r.Kind, in.Name)
		if err != nil {
			if o = s.derived(r, in.Name); o == nil {
				return nil, err
			}
		}
		return shown(http.StatusOK, s.withStates(o), "")
	})
}

// shown is the answer with an object.
func shown(status int, o *control.Object, location string) (*objectOut, error) {
	b, err := o.JSON()
	if err != nil {
		return nil, err
	}
	return &objectOut{Status: status, ETag: etag(o.Version), Location: location, Body: b}, nil
}

// planned is the answer to a dry run.
func planned(r *control.Result) (*objectOut, error) {
	b, err := json.Marshal(changesOf(r))
	if err != nil {
		return nil, err
	}
	return &objectOut{Status: http.StatusOK, Body: b}, nil
}

func (s *server) create(ctx context.Context, r Resource, in *createIn) (*objectOut, error) {
	obj, nulls, wrong := control.Decode(r.kind(), "", in.RawBody)
	if len(wrong) > 0 {
		return nil, problems(wrong, resource.Ref{Kind: r.Kind})
	}
	return s.write(ctx, r, control.Op{Put: obj, Nulls: nulls, Create: true}, in.DryRun, precondition{})
}

func (s *server) put(ctx context.Context, r Resource, in *putIn) (*objectOut, error) {
	cond, err := ifMatch(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	if o := s.derived(r, in.Name); o != nil && !slices.Contains(reservedRoutes(), in.Name) {
		return nil, readOnly(o)
	}
	obj, nulls, wrong := control.Decode(r.kind(), in.Name, in.RawBody)
	if len(wrong) > 0 {
		return nil, problems(wrong, resource.Ref{Kind: r.Kind, Name: in.Name})
	}
	op := control.Op{Put: obj, Nulls: nulls}
	if err := cond.put(&op); err != nil {
		return nil, err
	}
	return s.write(ctx, r, op, in.DryRun, cond)
}

// apply makes a change as who calls.
func (s *server) apply(ctx context.Context, ops []control.Op, dryRun bool) (*control.Result, error) {
	if err := s.checkHosts(ctx, ops); err != nil {
		return nil, err
	}
	return s.opt.Control.Apply(ctx, control.Batch{Actor: principal(ctx).Name, Owner: store.OwnerAPI, DryRun: dryRun, Ops: ops})
}

// write makes a change of one object and answers with it.
func (s *server) write(ctx context.Context, r Resource, op control.Op, dryRun bool, cond precondition) (*objectOut, error) {
	target := op.Ref
	if op.Put != nil {
		target = resource.Ref{Kind: r.Kind, Name: op.Put.Head().Name}
	}
	result, err := s.apply(ctx, []control.Op{op}, dryRun)
	if err != nil {
		return nil, s.problem(ctx, cond.failed(err), target)
	}
	if dryRun {
		return planned(result)
	}
	status, location := http.StatusOK, ""
	if !r.Single && slices.ContainsFunc(result.Changes, func(d control.Diff) bool {
		return d.Action == "create" && d.Kind == target.Kind && d.Name == target.Name
	}) {
		status, location = http.StatusCreated, r.path(target.Name)
	}
	return shown(status, s.withStates(result.Objects[0]), location)
}

func (s *server) delete(ctx context.Context, r Resource, in *deleteIn) (*changeOut, error) {
	cond, err := ifMatch(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	if o := s.derived(r, in.Name); o != nil {
		return nil, readOnly(o)
	}
	target := resource.Ref{Kind: r.Kind, Name: in.Name}
	op := control.Op{Ref: target}
	if cond.absent { // "0": it is there, or else it can't be deleted
		cond.never = true
	}
	if err := cond.put(&op); err != nil {
		return nil, err
	}
	result, err := s.opt.Control.Apply(ctx, control.Batch{Actor: principal(ctx).Name, Owner: store.OwnerAPI, DryRun: in.DryRun, Ops: []control.Op{op}})
	if err != nil {
		return nil, s.problem(ctx, cond.failed(err), target)
	}
	return gone(result, in.DryRun), nil
}

// gone is the answer to a delete.
func gone(r *control.Result, dryRun bool) *changeOut {
	if !dryRun {
		return &changeOut{Status: http.StatusNoContent}
	}
	body := changesOf(r)
	return &changeOut{Status: http.StatusOK, Body: &body}
}
