package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/dryrun"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/snapshot"
)

type (
	resolveIn struct {
		RawBody []byte
	}
	resolveOut struct {
		Body *dryrun.Answer
	}
)

// resolveRequest is the body of a dry run: the question, and a draft of the
// configuration to ask.
type resolveRequest struct {
	dryrun.Request
	// Draft are documents, as POST /import takes them, that replace or add to
	// the objects of the configuration for this question. It takes the role
	// gateway-admin: compiling one looks secrets and files up.
	Draft []json.RawMessage `json:"draft,omitempty"`
}

func (s *server) registerRouting() {
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "resolveRouting", Method: http.MethodPost, Path: "/routing/resolve", Tags: []string{"Routing"}, DefaultStatus: http.StatusOK,
			Summary:     "Ask where a request would go",
			Description: "The dry run: the decision of the live function on the state of this moment. It takes no turn, uses no pin and asks no provider. A request that would be refused answers 200 with the refusal.",
		},
		role: RoleViewer, body: s.resolveSchema(), errors: []int{http.StatusConflict},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[dryrun.Answer](s))},
	}, s.resolve)
}

// resolveSchema describes the body: documents are of any kind.
func (s *server) resolveSchema() *huma.Schema {
	body := schemaOf[resolveRequest](s)
	full := s.registry().SchemaFromRef(body.Ref)
	full.Properties["draft"] = &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}}
	full.Properties["params"] = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	return body
}

func (s *server) resolve(ctx context.Context, in *resolveIn) (*resolveOut, error) {
	req, err := readResolve(in.RawBody)
	if err != nil {
		return nil, err
	}
	if err := req.Check(); err != nil {
		return nil, wrongField(err)
	}
	world := s.world()
	if len(req.Draft) > 0 {
		if world.Live, err = s.compileDraft(ctx, req.Draft); err != nil {
			return nil, err
		}
		world.Draft = true
	}
	if world.Live == nil {
		return nil, noConfiguration()
	}
	answer, err := dryrun.Resolve(ctx, world, &req.Request)
	if err != nil {
		return nil, wrongField(err)
	}
	return &resolveOut{answer}, nil
}

// world is what questions are asked about.
func (s *server) world() dryrun.World {
	return dryrun.World{
		Live: s.live(), Board: s.opt.Board, Pins: s.opt.Pins, Now: s.now(),
		TieResponses: s.opt.TieResponses != nil && s.opt.TieResponses(),
	}
}

// live is the configuration that serves requests; nil if there is none.
func (s *server) live() *snapshot.Live {
	if s.opt.Live == nil {
		return nil
	}
	return s.opt.Live()
}

func noConfiguration() *Problem {
	return fault(http.StatusServiceUnavailable, "no_configuration", "no valid configuration is loaded, so nothing is decided; the log of the server says why")
}

// wrongField shows what is wrong with a question.
func wrongField(err error) error {
	if f, ok := errors.AsType[*dryrun.FieldError](err); ok {
		return invalid(f.Field, "%s", f.Message)
	}
	return err
}

// compileDraft compiles the configuration with some documents in it.
func (s *server) compileDraft(ctx context.Context, docs []json.RawMessage) (*snapshot.Live, error) {
	if !principal(ctx).Role.may(RoleAdmin) {
		return nil, fault(http.StatusForbidden, "forbidden", "a draft needs the role %s, since compiling one looks secrets and files up; ask without draft", RoleAdmin)
	}
	ops := make([]control.Op, 0, len(docs))
	for i, raw := range docs {
		at := resource.IndexPath("draft", i)
		obj, nulls, wrong := decodeDocument(raw)
		if len(wrong) > 0 {
			p := fault(http.StatusBadRequest, wrong[0].Code, "%s: %s", at, wrong[0].Message)
			for _, w := range wrong {
				p.add(w, resource.Ref{}, at)
			}
			return nil, p
		}
		ops = append(ops, control.Op{Put: obj, Nulls: nulls})
	}
	return s.opt.Control.CompileWith(ctx, ops)
}

// decodeDocument reads a document, which says its kind.
func decodeDocument(raw json.RawMessage) (resource.Object, []string, resource.Problems) {
	var head struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(raw, &head) != nil {
		return nil, nil, resource.Problems{{Code: "invalid", Message: "a document is a JSON object with a kind"}}
	}
	kind, ok := resource.FindKind(head.Kind)
	if !ok {
		return nil, nil, resource.Problems{{Code: "invalid", Path: "kind", Message: "there is no kind of this name"}}
	}
	return control.Decode(kind, "", raw)
}

// readResolve reads the body strictly.
func readResolve(raw []byte) (*resolveRequest, error) {
	r := &resolveRequest{}
	var caller, assume json.RawMessage
	err := readObject(raw, map[string]any{
		"model": &r.Model, "endpoint": &r.Endpoint, "stream": &r.Stream, "key": &r.Key, "caller": &caller, "headers": &r.Headers,
		"params": &r.Params, "promptTokens": &r.PromptTokens, "pii": &r.PII, "budgetUsed": &r.BudgetUsed, "tokensUsed": &r.TokensUsed,
		"callerCredential": &r.CallerCredential, "session": &r.Session, "assume": &assume, "failures": &r.Failures, "seed": &r.Seed,
		"draft": &r.Draft,
	})
	if err != nil {
		return nil, err
	}
	if !isNull(caller) {
		r.Caller = &dryrun.Caller{}
		err = readInside("caller", caller, map[string]any{
			"user": &r.Caller.User, "team": &r.Caller.Team, "department": &r.Caller.Department, "workload": &r.Caller.Workload,
		})
		if err != nil {
			return nil, err
		}
	}
	if !isNull(assume) {
		err = readInside("assume", assume, map[string]any{
			"down": &r.Assume.Down, "parked": &r.Assume.Parked, "ignoreGrantRoute": &r.Assume.IgnoreGrantRoute,
		})
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// readInside is readObject for an object inside the body.
func readInside(name string, raw []byte, targets map[string]any) error {
	err := readObject(raw, targets)
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		return err
	}
	if len(p.Errors) == 0 || p.Errors[0].Path == "" {
		return invalid(name, "an object is expected")
	}
	return invalid(name+"."+p.Errors[0].Path, "%s", p.Errors[0].Message)
}

// readOptional is readObject for a body that may be left out.
func readOptional(raw []byte, targets map[string]any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	return readObject(raw, targets)
}
