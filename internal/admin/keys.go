package admin

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// maxOverlap bounds how long a rotated key goes on working: a year.
const maxOverlap = 366 * 24 * time.Hour

type rotateIn struct {
	NameParams
	WriteParams
	MatchParams
	RawBody []byte
}

// registerKeys declares what is special about keys: a secret that is shown
// once, rotation, and a delete that is final.
func (s *server) registerKeys(r Resource, answer, input *huma.Schema) {
	change := schemaOf[changeSet](s)
	created := s.newKeySchema(r)
	one := "/" + r.Plural + "/{name}"
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "createKey", Method: http.MethodPost, Path: "/" + r.Plural, Tags: []string{r.Tag}, DefaultStatus: http.StatusCreated,
			Summary: "Create a key", Description: "The answer holds the secret, once: it can't be shown again. A dry run makes no secret.",
		},
		role: RoleAdmin, body: input, errors: []int{http.StatusConflict},
		answers: map[int]map[string]*huma.MediaType{http.StatusCreated: jsonBody(created), http.StatusOK: jsonBody(change)},
	}, func(ctx context.Context, in *createIn) (*objectOut, error) { return s.createKey(ctx, r, in) })
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "putKey", Method: http.MethodPut, Path: one, Tags: []string{r.Tag}, DefaultStatus: http.StatusOK,
			Summary: "Replace a key's rights", Description: "Its secret stays as it is. A new key is made with POST, which answers with its secret.",
		},
		role: RoleAdmin, body: input, errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(&huma.Schema{OneOf: []*huma.Schema{answer, change}})},
	}, func(ctx context.Context, in *putIn) (*objectOut, error) { return s.putKey(ctx, r, in) })
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "rotateKey", Method: http.MethodPost, Path: one + "/rotate", Tags: []string{r.Tag}, DefaultStatus: http.StatusCreated,
			Summary: "Replace a key's secret", Description: "Makes a successor with the same rights and answers with its secret, once. Every secret that the key has works until the overlap ends, and the key has a new version. One that has expired or ended is refused with 409.",
		},
		role: RoleAdmin, body: rotateSchema(), optionalBody: true, errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed},
		answers: map[int]map[string]*huma.MediaType{http.StatusCreated: jsonBody(created), http.StatusOK: jsonBody(change)},
	}, func(ctx context.Context, in *rotateIn) (*objectOut, error) { return s.rotateKey(ctx, r, in) })
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "revokeKey", Method: http.MethodDelete, Path: one, Tags: []string{r.Tag}, DefaultStatus: http.StatusNoContent,
			Summary: "Revoke a key", Description: "At once and for ever: restoring an older configuration does not bring its secret back.",
		},
		role: RoleAdmin, errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed},
		answers: map[int]map[string]*huma.MediaType{http.StatusNoContent: nil, http.StatusOK: jsonBody(change)},
	}, func(ctx context.Context, in *deleteIn) (*changeOut, error) { return s.revokeKey(ctx, r, in) })
}

// newKeySchema describes a key with its secret.
func (s *server) newKeySchema(r Resource) *huma.Schema {
	registry := s.registry()
	out := *registry.Map()[r.Kind]
	out.Properties = maps.Clone(out.Properties)
	out.Properties["secret"] = &huma.Schema{Type: huma.TypeString, Description: "The secret. It is shown in this answer only."}
	out.Required = append(slices.Clip(out.Required), "id", "secret")
	registry.Map()["NewKey"] = &out
	return ref("NewKey")
}

func rotateSchema() *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{"overlapSeconds": {
			Type: huma.TypeInteger, Format: "int64", Minimum: new(float64), Maximum: new(maxOverlap.Seconds()),
			Description: "How long the old secret goes on working; 86400 (24 hours) if left out, 0 to end it at once.",
		}},
	}
}

func (s *server) createKey(ctx context.Context, r Resource, in *createIn) (*objectOut, error) {
	obj, _, wrong := control.Decode(r.kind(), "", in.RawBody)
	target := resource.Ref{Kind: r.Kind}
	if len(wrong) > 0 {
		return nil, problems(wrong, target)
	}
	key, ok := obj.(*resource.Key)
	if !ok {
		return nil, errNotAKey
	}
	target.Name = key.Name
	made, result, err := s.opt.Control.CreateKey(ctx, principal(ctx).Name, key, in.DryRun)
	if err != nil {
		return nil, s.problem(ctx, err, target)
	}
	return issued(r, made, result, in.DryRun)
}

// issued is the answer with a new key. This is the only place that shows a
// secret.
func issued(r Resource, made *control.NewKey, result *control.Result, dryRun bool) (*objectOut, error) {
	if dryRun {
		return planned(result)
	}
	b, err := made.JSON()
	if err != nil {
		return nil, err
	}
	secret, err := json.Marshal(made.Secret.Reveal())
	if err != nil {
		return nil, err
	}
	body := append(b[:len(b)-1:len(b)-1], `,"secret":`...)
	body = append(append(body, secret...), '}')
	return &objectOut{Status: http.StatusCreated, ETag: etag(made.Version), Location: r.path(made.ID), Body: body}, nil
}

func (s *server) putKey(ctx context.Context, r Resource, in *putIn) (*objectOut, error) {
	cond, err := ifMatch(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	now, err := s.opt.Control.Get(ctx, r.Kind, in.Name)
	if err != nil {
		return nil, cond.failed(err)
	}
	target := resource.Ref{Kind: r.Kind, Name: now.Head().Name}
	obj, nulls, wrong := control.Decode(r.kind(), target.Name, in.RawBody)
	if len(wrong) > 0 {
		return nil, problems(wrong, target)
	}
	key, isKey := obj.(*resource.Key)
	was, wasKey := now.Object.(*resource.Key)
	if !isKey || !wasKey {
		return nil, errNotAKey
	}
	if key.Secret != "" && key.Secret != was.Secret {
		return nil, problems(resource.Problems{{
			Code: "invalid", Object: target, Path: "secret",
			Message: "the secret of a key is made here and shown once; leave it out, and rotate the key for a new one",
		}}, target)
	}
	op := control.Op{Put: obj, Nulls: nulls}
	if err := cond.put(&op); err != nil {
		return nil, err
	}
	op.Replace = !op.Create // it was there a moment ago: a revoked key does not come back without its secret
	return s.write(ctx, r, op, in.DryRun, cond)
}

func (s *server) rotateKey(ctx context.Context, r Resource, in *rotateIn) (*objectOut, error) {
	overlap := time.Duration(-1)
	if len(in.RawBody) > 0 {
		var seconds *int64
		if err := readObject(in.RawBody, map[string]any{"overlapSeconds": &seconds}); err != nil {
			return nil, err
		}
		if seconds != nil {
			if *seconds < 0 || *seconds > int64(maxOverlap.Seconds()) {
				return nil, invalid("overlapSeconds", "%d is out of range; write 0 to %d", *seconds, int64(maxOverlap.Seconds()))
			}
			overlap = time.Duration(*seconds) * time.Second
		}
	}
	cond, err := ifMatch(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	if cond.never || cond.absent {
		return nil, fault(http.StatusPreconditionFailed, "stale", "the If-Match is no version of this key; load it again and repeat")
	}
	made, result, err := s.opt.Control.RotateKey(ctx, principal(ctx).Name, in.Name, overlap, cond.version, in.DryRun)
	if err != nil {
		return nil, s.problem(ctx, cond.failed(err), resource.Ref{Kind: r.Kind, Name: in.Name})
	}
	return issued(r, made, result, in.DryRun)
}

func (s *server) revokeKey(ctx context.Context, r Resource, in *deleteIn) (*changeOut, error) {
	cond, err := ifMatch(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	if cond.never || cond.absent {
		return nil, fault(http.StatusPreconditionFailed, "stale", "the If-Match is no version of this key; load it again and repeat the change")
	}
	result, err := s.opt.Control.RevokeKey(ctx, principal(ctx).Name, in.Name, cond.version, in.DryRun)
	if err != nil {
		return nil, s.problem(ctx, cond.failed(err), resource.Ref{Kind: r.Kind, Name: in.Name})
	}
	return gone(result, in.DryRun), nil
}
