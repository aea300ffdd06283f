package admin

import (
	_ "embed" // of the comments of fields
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/audit"
)

// fieldDocsJSON holds the comments of the structs that the API shows, which
// `go generate` takes from their source.
//
//go:embed fielddocs.json
var fieldDocsJSON []byte

// fieldDocs are comments by type and field: "resource.Provider" and
// "resource.Provider.baseUrl".
type fieldDocs map[string]string

const schemaPrefix = "#/components/schemas/"

// schemaName is what the document calls a Go type.
func schemaName(t reflect.Type, hint string) string {
	if name := map[string]string{
		"dryrun.Answer":        "DryRun",
		"dryrun.Model":         "DryRunModel",
		"dryrun.Exclusion":     "DryRunExclusion",
		"dryrun.After":         "DryRunAfter",
		"dryrun.Caller":        "DryRunCaller",
		"dryrun.Assume":        "DryRunAssume",
		"admin.resolveRequest": "DryRunRequest",
		"audit.Row":            "AuditEvent",
		"audit.Record":         "AuditRecord",
		"audit.Attempt":        "AuditAttempt",
		"audit.AdminChange":    "AuditChange",
		"stats.Answer":         "Stats",
		"stats.Figures":        "StatsFigures",
		"stats.Bucket":         "StatsBucket",
		"stats.Share":          "StatsShare",
		"stats.Tokens":         "StatsTokens",
		"admin.authMe":         "Me",
		"admin.authState":      "AuthState",
		"admin.oidcState":      "AuthOIDC",
		"routing.Plan":         "Plan",
		"routing.Step":         "PlanStep",
		"routing.Candidate":    "PlanCandidate",
		"routing.Refusal":      "PlanRefusal",
	}[strings.TrimLeft(t.String(), "*")]; name != "" {
		return name
	}
	return huma.DefaultSchemaNamer(t, hint)
}

func ref(name string) *huma.Schema { return &huma.Schema{Ref: schemaPrefix + name} }

// schemaOf describes a Go type.
func schemaOf[T any](s *server) *huma.Schema {
	return s.registry().Schema(reflect.TypeFor[T](), true, "")
}

func (s *server) registry() huma.Registry {
	r := s.api.OpenAPI().Components.Schemas
	r.RegisterTypeAlias(reflect.TypeFor[audit.Millis](), reflect.TypeFor[float64]()) // it is written as a number
	return r
}

// kindSchemas describes a kind twice, from its Go type: as answers show it,
// and as requests write it.
func (s *server) kindSchemas(r Resource) (answer, input *huma.Schema) {
	name, inputName := r.Kind, r.Kind+"Input"
	registry := s.registry()
	base := registry.Schema(reflect.TypeOf(r.kind().New()).Elem(), false, "")
	base.Properties["kind"].Enum = []any{r.Kind}
	for field, values := range r.enums {
		base.Properties[field].Enum = anySlice(values)
	}

	in := *base
	in.Properties = maps.Clone(base.Properties)
	in.Description = "What a GET answered can be sent back: its read-only fields are ignored."
	in.Required = slices.DeleteFunc(slices.Clone(base.Required), func(f string) bool { return f == "kind" || r.Single && f == "name" })
	for _, field := range r.nullable {
		p := *in.Properties[field]
		p.Nullable = true
		p.Description = strings.TrimSpace(p.Description + " Left out it keeps its stored value; null removes it.")
		in.Properties[field] = &p
	}

	out := *base
	out.Properties = maps.Clone(base.Properties)
	out.AdditionalProperties = nil
	out.Required = slices.Concat(base.Required, []string{"version", "managedBy"})
	for field, p := range s.readOnlyFields(r) {
		p.ReadOnly = true
		if list, inner, nested := strings.Cut(field, "."); nested {
			at := base.Properties[list]
			if at.Items != nil {
				at = at.Items
			}
			registry.SchemaFromRef(at.Ref).Properties[inner] = p
			continue
		}
		out.Properties[field] = p
		in.Properties[field] = p
	}
	for _, path := range r.kind().ReadOnlyFields() { // answers of later versions may have them
		if _, known := in.Properties[path]; !known && !strings.Contains(path, ".") {
			in.Properties[path] = &huma.Schema{ReadOnly: true}
		}
	}
	registry.Map()[name], registry.Map()[inputName] = &out, &in
	return ref(name), ref(inputName)
}

// readOnlyFields are what an answer has and a request does not set.
func (s *server) readOnlyFields(r Resource) map[string]*huma.Schema {
	fields := map[string]*huma.Schema{
		"version":   {Type: huma.TypeInteger, Format: "int64", Description: "Counts the writes of this object; it is the ETag. 0: not written yet."},
		"createdAt": {Type: huma.TypeString, Format: "date-time"},
		"updatedAt": {Type: huma.TypeString, Format: "date-time"},
		"managedBy": {Type: huma.TypeString, Enum: []any{"api", "file", string(ownerNone)}, Description: "Who owns the object. What a file owns is read-only here, and so is what Interlock derives."},
		"warnings":  {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}, Description: "What is stored and has no effect in this version."},
		"managedIn": {Type: huma.TypeString, Description: "The file and line of an object that a file owns."},
	}
	if r.ByID {
		fields["id"] = &huma.Schema{Type: huma.TypeString, Description: "It never changes."}
	}
	maps.Copy(fields, r.readOnly)
	return fields
}

// listSchema describes a page of a list.
func listSchema(item *huma.Schema) *huma.Schema {
	return &huma.Schema{
		Type:     huma.TypeObject,
		Required: []string{"items"},
		Properties: map[string]*huma.Schema{
			"items":      {Type: huma.TypeArray, Items: item},
			"nextCursor": {Type: huma.TypeString, Description: "Send it as cursor for the next page; absent on the last one."},
		},
	}
}

// describe puts the comments of Go types and fields into the document, and
// opens answers for fields of later versions.
func (s *server) describe() {
	registry := s.registry()
	for name, schema := range registry.Map() {
		t := registry.TypeFromRef(schemaPrefix + name)
		if t == nil {
			if t = registry.TypeFromRef(schemaPrefix + strings.TrimSuffix(name, "Input")); t == nil {
				continue
			}
		}
		id := t.String() // package.Type
		schema.Description = strings.TrimSpace(s.docs[id] + " " + schema.Description)
		if !strings.HasPrefix(id, "resource.") && !strings.HasSuffix(name, "Request") {
			schema.AdditionalProperties = nil
		}
		for field, p := range schema.Properties {
			text := s.fieldDoc(t, field)
			switch {
			case text == "" || p.Description == text || strings.HasPrefix(p.Description, text+" "):
			case p.Ref != "":
				// beside a $ref; OpenAPI 3.1 allows that
				schema.Properties[field] = &huma.Schema{Ref: p.Ref, Description: text}
			default:
				q := *p
				q.Description = strings.TrimSpace(text + " " + p.Description)
				schema.Properties[field] = &q
			}
		}
	}
}

// fieldDoc is the comment of a field of a type, or of a type that is embedded in
// it.
func (s *server) fieldDoc(t reflect.Type, field string) string {
	if text := s.docs[t.String()+"."+field]; text != "" {
		return text
	}
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if text := s.fieldDoc(f.Type, field); text != "" {
				return text
			}
		}
	}
	return ""
}

// schemaRef finds references in the JSON of a part of the document.
var schemaRef = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

// dropUnused removes schemas that nothing refers to: huma describes the Go
// types of answers that the document describes otherwise.
func (s *server) dropUnused() error {
	doc := s.api.OpenAPI()
	schemas := doc.Components.Schemas.Map()
	used := map[string]bool{}
	var visit func(part any) error
	visit = func(part any) error {
		b, err := json.Marshal(part)
		if err != nil {
			return fmt.Errorf("admin: write the OpenAPI document: %w", err)
		}
		for _, m := range schemaRef.FindAllSubmatch(b, -1) {
			name := string(m[1])
			if used[name] {
				continue
			}
			used[name] = true
			if err := visit(schemas[name]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(visit(doc.Paths), visit(doc.Components.Responses)); err != nil {
		return err
	}
	maps.DeleteFunc(schemas, func(name string, _ *huma.Schema) bool { return !used[name] })
	return nil
}

func anySlice(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
