package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// identity is who calls.
type identity struct {
	// Name is the actor that the audit names.
	Name string `json:"name"`
	// Role is gateway-admin or viewer.
	Role Role `json:"role" enum:"gateway-admin,viewer"`
	// Version is the program's.
	Version string `json:"version"`
}

type meOut struct {
	Body identity
}

func (s *server) registerMe() {
	register(s, operation{
		Operation: huma.Operation{OperationID: "getMe", Method: http.MethodGet, Path: "/me", Tags: []string{"Session"}, Summary: "Show who calls"},
		role:      RoleViewer,
		answers:   map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[identity](s))},
	}, func(ctx context.Context, _ *struct{}) (*meOut, error) {
		who := principal(ctx)
		return &meOut{identity{Name: who.Name, Role: who.Role, Version: s.opt.Version}}, nil
	})
}
