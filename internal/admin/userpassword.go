package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

type passwordIn struct {
	NameParams
	RawBody []byte
}

// noContent is an answer without a body.
type noContent struct{}

// registerPassword declares the change of a user's password alone: also of a
// user that a file owns, whose other fields are read-only here.
func (s *server) registerPassword(user Resource) {
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "setUserPassword", Method: http.MethodPut, Path: "/users/{name}/password", Tags: []string{user.Tag}, DefaultStatus: http.StatusNoContent,
			Summary: "Set a user's password", Description: "Ends the sessions that the user signed in to with the old one. Files have no passwords, so it can be set for a user that a file owns as well.",
		},
		role: RoleAdmin, body: texts("password"), errors: []int{http.StatusNotFound, http.StatusConflict},
		answers: map[int]map[string]*huma.MediaType{http.StatusNoContent: nil},
	}, s.setPassword)
}

func (s *server) setPassword(ctx context.Context, in *passwordIn) (*noContent, error) {
	var typed string
	if err := readObject(in.RawBody, map[string]any{"password": &typed}); err != nil {
		return nil, err
	}
	err := s.opt.Control.SetPassword(ctx, principal(ctx).Name, in.Name, secret.New(typed), "")
	if err != nil {
		return nil, s.problem(ctx, err, resource.Ref{Kind: "User", Name: in.Name})
	}
	return &noContent{}, nil
}
