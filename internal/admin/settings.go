package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

type singleIn struct {
	WriteParams
	MatchParams
	RawBody []byte
}

// registerSingle declares the operations of a kind with one object, which is
// always there: with its defaults before it is written.
func (s *server) registerSingle(r Resource, answer, input *huma.Schema) {
	register(s, operation{
		Operation: huma.Operation{OperationID: "get" + r.Kind, Method: http.MethodGet, Path: "/" + r.Plural, Tags: []string{r.Tag}, Summary: "Show the " + r.Plural, Description: "Version 0 means that nothing was written yet: everything has its default."},
		role:      RoleViewer,
		answers:   map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(answer)},
	}, func(ctx context.Context, _ *struct{}) (*objectOut, error) { return s.getSingle(ctx, r) })
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "put" + r.Kind, Method: http.MethodPut, Path: "/" + r.Plural, Tags: []string{r.Tag}, DefaultStatus: http.StatusOK,
			Summary: "Replace the " + r.Plural, Description: "What the body leaves out is reset. A dry run answers with what it would change.",
		},
		role: RoleAdmin, body: input, errors: []int{http.StatusConflict, http.StatusPreconditionFailed},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(&huma.Schema{OneOf: []*huma.Schema{answer, schemaOf[changeSet](s)}})},
	}, func(ctx context.Context, in *singleIn) (*objectOut, error) {
		return s.put(ctx, r, &putIn{NameParams: NameParams{r.Plural}, WriteParams: in.WriteParams, MatchParams: in.MatchParams, RawBody: in.RawBody})
	})
}

func (s *server) getSingle(ctx context.Context, r Resource) (*objectOut, error) {
	o, err := s.opt.Control.Get(ctx, r.Kind, r.Plural)
	if err == nil {
		return shown(http.StatusOK, o, "")
	}
	var refused *control.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		return nil, err
	}
	unwritten := r.kind().New()
	*unwritten.Head() = resource.Meta{Kind: r.Kind, Name: r.Plural}
	return shown(http.StatusOK, &control.Object{Object: unwritten, Owner: store.OwnerAPI}, "")
}
