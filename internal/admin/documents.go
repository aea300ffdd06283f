package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

type exportIn struct {
	Accept string `header:"Accept" hidden:"true"`
	Format string `query:"format" enum:"yaml,json" doc:"yaml if left out and Accept asks for nothing else."`
	// Portable is what every export is.
	Portable bool `query:"portable" doc:"Leave out what only this installation can read, such as stored secrets. Every export does."`
}

type rawOut struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

type importIn struct {
	WriteParams
	ContentType string `header:"Content-Type" hidden:"true"`
	Prune       bool   `query:"prune" doc:"Delete what is managed here and is not among the documents."`
	RawBody     []byte
}

func (s *server) registerDocuments() {
	tags := []string{"Documents"}
	documents := &huma.Schema{
		Type: huma.TypeObject, Required: []string{"documents"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{"documents": {Type: huma.TypeArray, Items: &huma.Schema{OneOf: kinds("Input")}}},
	}
	s.registry().Map()["Documents"] = documents
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "exportDocuments", Method: http.MethodGet, Path: "/export", Tags: tags, Summary: "Export all objects as documents",
			Description: "In a fixed order and form. Secrets that are references stay; stored ones are left out.",
		},
		role: RoleViewer, accepts: true,
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: {
			"application/yaml": {Schema: &huma.Schema{Type: huma.TypeString}},
			"application/json": {Schema: ref("Documents")},
		}},
	}, s.export)
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "importDocuments", Method: http.MethodPost, Path: "/import", Tags: tags, Summary: "Create or replace objects from documents", MaxBodyBytes: maxImport,
			Description: "All of them or none. Secrets that are left out keep their stored value. Objects that a file owns are skipped if they are the same, and refused otherwise.",
		},
		role: RoleAdmin, body: ref("Documents"), yaml: true, errors: []int{http.StatusConflict},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[changeSet](s))},
	}, s.importDocuments)
}

// kinds are the schemas of all kinds, as answers show them or as requests write
// them.
func kinds(suffix string) []*huma.Schema {
	out := make([]*huma.Schema, 0, len(Resources()))
	for _, r := range Resources() {
		out = append(out, ref(r.Kind+suffix))
	}
	return out
}

func (s *server) export(ctx context.Context, in *exportIn) (*rawOut, error) {
	docs, err := s.opt.Control.Export(ctx)
	if err != nil {
		return nil, err
	}
	if in.Format == "json" || in.Format == "" && preferred(in.Accept, "application/yaml", "application/json") == "application/json" {
		b, err := json.Marshal(map[string]any{"documents": append([]json.RawMessage{}, docs...)})
		if err != nil {
			return nil, err
		}
		return &rawOut{ContentType: "application/json", Body: b}, nil
	}
	var b bytes.Buffer
	for i, d := range docs {
		if i > 0 {
			b.WriteString("---\n")
		}
		if err := writeYAML(&b, d); err != nil {
			return nil, err
		}
	}
	return &rawOut{ContentType: "application/yaml", Disposition: `attachment; filename="interlock.yaml"`, Body: b.Bytes()}, nil
}

func (s *server) importDocuments(ctx context.Context, in *importIn) (*resultOut, error) {
	ops, where, err := in.read()
	if err != nil {
		return nil, err
	}
	if ops, err = s.withoutFileOwned(ctx, ops); err != nil {
		return nil, err
	}
	if in.Prune {
		unlisted, err := s.unlisted(ctx, where)
		if err != nil {
			return nil, err
		}
		ops = append(ops, unlisted...)
	}
	result, err := s.apply(ctx, ops, in.DryRun)
	if err != nil {
		return nil, locate(s.problem(ctx, err, resource.Ref{}), where)
	}
	return &resultOut{changesOf(result)}, nil
}

// places are where each object stands among the documents.
type places map[resource.Ref]standing

type standing struct {
	// at is the path of the document: documents[3].
	at string
	// locate finds a field in a text with lines; nil if there are none.
	locate func(path string) *resource.Position
}

// read reads the documents of the body. One that does not say what it is, or
// that curl -d calls a form, is JSON if it begins like an object.
func (in *importIn) read() ([]control.Op, places, error) {
	media, _, err := mime.ParseMediaType(in.ContentType)
	plain := err != nil || media == formType
	if isYAML(media) || plain && !bytes.HasPrefix(bytes.TrimLeft(in.RawBody, " \t\r\n"), []byte("{")) {
		return readYAML(in.RawBody)
	}
	var raw []json.RawMessage
	if err := readObject(in.RawBody, map[string]any{"documents": &raw}); err != nil {
		return nil, nil, err
	}
	if raw == nil {
		return nil, nil, invalid("documents", "the list of documents is missing")
	}
	return readDocuments(raw)
}

// readYAML reads documents as the configuration file has them.
func readYAML(raw []byte) ([]control.Op, places, error) {
	docs, list := config.ReadDocuments("the body", raw)
	where := places{}
	ops := make([]control.Op, 0, len(docs))
	for i, d := range docs {
		target := resource.Ref{Kind: d.Object.Head().Kind, Name: d.Object.Head().Name}
		at := resource.IndexPath("documents", i)
		if first, twice := where[target]; twice {
			list = append(list, resource.Problem{Code: "invalid", Object: target, Path: "name", Pos: d.Locate("name"), Message: fmt.Sprintf("%s is there already, as %s", target, first.at)})
			continue
		}
		where[target] = standing{at, d.Locate}
		ops = append(ops, control.Op{Put: d.Object, Nulls: d.Nulls})
	}
	if len(list) == 0 && len(ops) == 0 {
		return nil, nil, invalid("", "the body holds no documents")
	}
	if len(list) == 0 {
		return ops, where, nil
	}
	wrong := fault(http.StatusBadRequest, "invalid", "the documents are refused")
	for _, p := range list {
		wrong.add(p, p.Object, "")
	}
	return nil, nil, locate(wrong, where)
}

// readDocuments reads every document and says everything that is wrong with
// any.
func readDocuments(raw []json.RawMessage) (ops []control.Op, where places, err error) {
	where = places{}
	var wrong *Problem
	report := func(at string, target resource.Ref, list resource.Problems) {
		if wrong == nil {
			wrong = fault(http.StatusBadRequest, "invalid", "the documents are refused")
		}
		for _, p := range list {
			wrong.add(p, target, at)
		}
	}
	for i, doc := range raw {
		at := fmt.Sprintf("documents[%d]", i)
		kind, problem := kindOf(doc)
		if problem != nil {
			report(at, resource.Ref{}, resource.Problems{*problem})
			continue
		}
		obj, nulls, list := control.Decode(kind, "", doc)
		if len(list) > 0 {
			report(at, resource.Ref{Kind: kind.Name}, list)
			continue
		}
		target := resource.Ref{Kind: kind.Name, Name: obj.Head().Name}
		if first, twice := where[target]; twice {
			report(at, target, resource.Problems{{Code: "invalid", Object: target, Path: "name", Message: fmt.Sprintf("%s is there already, as %s", target, first.at)}})
			continue
		}
		if list := resource.CheckDocument(obj); len(list) > 0 {
			report(at, target, list)
			continue
		}
		where[target] = standing{at: at}
		ops = append(ops, control.Op{Put: obj, Nulls: nulls})
	}
	if wrong != nil {
		return nil, nil, wrong
	}
	return ops, where, nil
}

func kindOf(doc json.RawMessage) (resource.Kind, *resource.Problem) {
	var head struct {
		Kind *string `json:"kind"`
	}
	if err := json.Unmarshal(doc, &head); err != nil || head.Kind == nil {
		return resource.Kind{}, &resource.Problem{Code: "invalid", Path: "kind", Message: "a document is an object with a kind"}
	}
	kind, ok := resource.FindKind(*head.Kind)
	switch {
	case ok:
		return kind, nil
	case slices.Contains(resource.NotBuiltKinds(), *head.Kind):
		return kind, &resource.Problem{Code: "not_built", Path: "kind", Message: fmt.Sprintf("%s is not part of this version yet", *head.Kind)}
	}
	return kind, &resource.Problem{Code: "invalid", Path: "kind", Message: fmt.Sprintf("the kind %.64q is not known", *head.Kind)}
}

// withoutFileOwned leaves out what a file owns and would not change: an export
// can be imported where it comes from.
func (s *server) withoutFileOwned(ctx context.Context, ops []control.Op) ([]control.Op, error) {
	current, err := s.objects(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	ops = slices.DeleteFunc(ops, func(op control.Op) bool {
		h := op.Put.Head()
		now := current[resource.Ref{Kind: h.Kind, Name: h.Name}]
		if now == nil || now.Owner != store.OwnerFile {
			return false
		}
		a, err := json.Marshal(op.Put)
		if err != nil {
			failed = err
		}
		b, err := json.Marshal(now.Object)
		if err != nil {
			failed = err
		}
		return bytes.Equal(a, b)
	})
	return ops, failed
}

// objects are all objects as answers show them.
func (s *server) objects(ctx context.Context) (map[resource.Ref]*control.Object, error) {
	out := map[resource.Ref]*control.Object{}
	for _, k := range resource.Kinds() {
		list, err := s.opt.Control.List(ctx, k.Name)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			out[resource.Ref{Kind: k.Name, Name: o.Head().Name}] = o
		}
	}
	return out, nil
}

// unlisted deletes what the API owns and no document names.
func (s *server) unlisted(ctx context.Context, where places) ([]control.Op, error) {
	var ops []control.Op
	for _, k := range resource.Kinds() {
		list, err := s.opt.Control.List(ctx, k.Name)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			target := resource.Ref{Kind: k.Name, Name: o.Head().Name}
			if _, listed := where[target]; !listed && o.Owner == store.OwnerAPI {
				ops = append(ops, control.Op{Ref: target, IfVersion: o.Version, Revoke: true})
			}
		}
	}
	return ops, nil
}

// locate puts the place of its document before the path of each error.
func locate(p *Problem, where places) *Problem {
	for i := range p.Errors {
		e := &p.Errors[i]
		if e.Object == nil || where[*e.Object].at == "" {
			continue
		}
		at := where[*e.Object].at
		if find := where[*e.Object].locate; find != nil && e.Line == 0 {
			if pos := find(e.Path); pos != nil {
				e.Line, e.Column = pos.Line, pos.Column
			}
		}
		switch {
		case e.Path == "":
			e.Path = at
		case strings.HasPrefix(e.Path, "["):
			e.Path = at + e.Path
		default:
			e.Path = at + "." + e.Path
		}
	}
	return p
}
