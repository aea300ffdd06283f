package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// ConfigVersion is one configuration version in a list.
type ConfigVersion struct {
	// Version is its number.
	Version int64     `json:"version"`
	Time    time.Time `json:"time"`
	// Actor is who made it.
	Actor string `json:"actor"`
	// Summary says in words what changed.
	Summary string `json:"summary"`
}

// configVersionDetail is one configuration version with everything in it.
type configVersionDetail struct {
	ConfigVersion
	// Changes are what it changed, field by field.
	Changes []control.Diff `json:"changes"`
	// Objects are all objects as they were, without secrets.
	Objects []json.RawMessage `json:"objects"`
}

// configDiff is what differs between two configuration versions.
type configDiff struct {
	From    int64          `json:"from"`
	To      int64          `json:"to"`
	Changes []control.Diff `json:"changes"`
	// Text is the same in words, a line for each object and field.
	Text string `json:"text"`
}

type (
	versionsIn struct {
		PageParams
		Before int64 `query:"before" minimum:"1" doc:"Only versions before this number."`
	}
	versionIn struct {
		Version int64 `path:"version" minimum:"1" doc:"The number of a configuration version."`
	}
	diffIn struct {
		Version int64 `path:"version" minimum:"0" doc:"The number of a configuration version; 0 is the empty configuration before the first."`
		To      int64 `query:"to" minimum:"0" doc:"The version to compare with; the newest if left out."`
	}
	restoreIn struct {
		Version int64 `path:"version" minimum:"1" doc:"The number of a configuration version."`
		WriteParams
	}
	versionsOut struct {
		Body struct {
			Items      []ConfigVersion `json:"items"`
			NextCursor string          `json:"nextCursor,omitempty"`
		}
	}
	versionOut struct{ Body configVersionDetail }
	diffOut    struct{ Body configDiff }
	resultOut  struct{ Body changeSet }
)

// versionCursor is where a list of versions goes on.
type versionCursor struct {
	Before int64 `json:"b"`
}

func (s *server) registerVersions() {
	detail := schemaOf[configVersionDetail](s)
	s.registry().SchemaFromRef(detail.Ref).Properties["objects"].Items = &huma.Schema{OneOf: kinds("")}
	tags := []string{"Configuration versions"}
	register(s, operation{
		Operation: huma.Operation{OperationID: "listConfigVersions", Method: http.MethodGet, Path: "/config-versions", Tags: tags, Summary: "List configuration versions", Description: "Newest first."},
		role:      RoleViewer,
		answers:   map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(listSchema(schemaOf[ConfigVersion](s)))},
	}, s.listVersions)
	register(s, operation{
		Operation: huma.Operation{OperationID: "getConfigVersion", Method: http.MethodGet, Path: "/config-versions/{version}", Tags: tags, Summary: "Show a configuration version"},
		role:      RoleViewer, errors: []int{http.StatusNotFound},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(detail)},
	}, s.getVersion)
	register(s, operation{
		Operation: huma.Operation{OperationID: "diffConfigVersions", Method: http.MethodGet, Path: "/config-versions/{version}/diff", Tags: tags, Summary: "Compare two configuration versions"},
		role:      RoleViewer, errors: []int{http.StatusNotFound},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[configDiff](s))},
	}, s.diffVersions)
	register(s, operation{
		Operation: huma.Operation{
			OperationID: "restoreConfigVersion", Method: http.MethodPost, Path: "/config-versions/{version}/restore", Tags: tags, Summary: "Restore a configuration version",
			Description: "Makes a new version like the old one, checked like any change. What a file owns, and keys that were revoked, stay as they are.",
		},
		role: RoleAdmin, errors: []int{http.StatusNotFound, http.StatusConflict},
		answers: map[int]map[string]*huma.MediaType{http.StatusOK: jsonBody(schemaOf[changeSet](s))},
	}, s.restoreVersion)
}

func (s *server) listVersions(ctx context.Context, in *versionsIn) (*versionsOut, error) {
	before := in.Before
	if in.Cursor != "" {
		var at versionCursor
		if err := decodeCursor(in.Cursor, &at); err != nil {
			return nil, err
		}
		if at.Before < 1 {
			return nil, invalid("query.cursor", "it is not a cursor of this list")
		}
		before = at.Before
	}
	list, err := s.opt.Control.Versions(ctx, before, in.limit()+1)
	if err != nil {
		return nil, err
	}
	out := &versionsOut{}
	out.Body.Items = make([]ConfigVersion, 0, len(list))
	for i := range list {
		if i == in.limit() {
			if out.Body.NextCursor, err = encodeCursor(versionCursor{list[i-1].Number}); err != nil {
				return nil, err
			}
			break
		}
		out.Body.Items = append(out.Body.Items, showVersion(&list[i]))
	}
	return out, nil
}

// showVersion leaves the stored changes out: they hold sealed secrets.
func showVersion(r *store.Revision) ConfigVersion {
	return ConfigVersion{Version: r.Number, Time: r.At.UTC(), Actor: r.Actor, Summary: r.Summary}
}

func (s *server) getVersion(ctx context.Context, in *versionIn) (*versionOut, error) {
	v, objects, err := s.opt.Control.Version(ctx, in.Version)
	if err != nil {
		return nil, err
	}
	out := &versionOut{configVersionDetail{ConfigVersion: showVersion(v.Revision), Changes: append([]control.Diff{}, v.Diffs...), Objects: make([]json.RawMessage, 0, len(objects))}}
	for _, o := range objects {
		for _, field := range []string{"active", "endsAt", "last4"} { // of now, not of then
			delete(o.Extra, field)
		}
		b, err := o.JSON()
		if err != nil {
			return nil, err
		}
		out.Body.Objects = append(out.Body.Objects, b)
	}
	return out, nil
}

func (s *server) diffVersions(ctx context.Context, in *diffIn) (*diffOut, error) {
	to := in.To
	if to == 0 {
		newest, err := s.opt.Control.Versions(ctx, 0, 1)
		if err != nil {
			return nil, err
		}
		if len(newest) > 0 {
			to = newest[0].Number
		}
	}
	diffs, err := s.opt.Control.Compare(ctx, in.Version, to)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(diffs))
	for i, d := range diffs {
		lines[i] = d.String()
	}
	return &diffOut{configDiff{From: in.Version, To: to, Changes: append([]control.Diff{}, diffs...), Text: strings.Join(lines, "\n")}}, nil
}

func (s *server) restoreVersion(ctx context.Context, in *restoreIn) (*resultOut, error) {
	result, err := s.opt.Control.Restore(ctx, principal(ctx).Name, in.Version, in.DryRun)
	if err != nil {
		return nil, s.problem(ctx, err, resource.Ref{})
	}
	return &resultOut{changesOf(result)}, nil
}
