package admin

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/control"
)

const (
	defaultLimit = 50
	maxLimit     = 500
)

// PageParams are the parameters of every list.
type PageParams struct {
	Limit  int    `query:"limit" minimum:"1" doc:"How many items; 50 if left out, 500 if it is more."`
	Cursor string `query:"cursor" maxLength:"2000" doc:"The nextCursor of the page before, with the same other parameters."`
}

func (p PageParams) limit() int { return min(cmp.Or(p.Limit, defaultLimit), maxLimit) }

// listIn are the parameters of a list of objects.
type listIn struct {
	PageParams
	Query   string `query:"q" maxLength:"200" doc:"Only objects with this text in their name or in any other text, in any case of letters."`
	Sort    string `query:"sort" enum:"name,-name,updatedAt,-updatedAt" doc:"The order; name if left out. A minus turns it round."`
	Enabled string `query:"enabled" enum:"true,false" doc:"Only objects that are switched on, or off."`
}

// listBody is a page of any list.
type listBody struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

type listOut struct {
	Body listBody
}

// position is where a list of objects goes on: after the object with this
// value and name. An object that comes or goes in between shifts nothing.
type position struct {
	Sort  string `json:"s"`
	Value string `json:"v"`
	Name  string `json:"n"`
}

// encodeCursor makes a cursor that says nothing to its holder.
func encodeCursor(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write a cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

func decodeCursor(text string, v any) error {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return invalid("query.cursor", "it is not a cursor of this API; send the nextCursor of the page before as it is")
	}
	return nil
}

// pageOf picks and orders the objects of one page. finish adds what only those
// that are shown need.
func pageOf(objects []*control.Object, in *listIn, finish func(*control.Object)) (*listBody, error) {
	by := cmp.Or(in.Sort, "name")
	from := position{}
	if in.Cursor != "" {
		if err := decodeCursor(in.Cursor, &from); err != nil {
			return nil, err
		}
		if from.Sort != by {
			return nil, invalid("query.cursor", "it belongs to a list in another order; begin again without it")
		}
	}
	kept := make([]placed, 0, len(objects))
	for _, o := range objects {
		if in.keeps(o) {
			kept = append(kept, placed{o, position{Sort: by, Value: sortValue(o, by), Name: o.Head().Name}})
		}
	}
	order := comparePositions(strings.HasPrefix(by, "-"))
	slices.SortFunc(kept, func(a, b placed) int { return order(a.at, b.at) })
	start := 0
	if in.Cursor != "" {
		start, _ = slices.BinarySearchFunc(kept, from, func(p placed, at position) int {
			if order(p.at, at) <= 0 {
				return -1
			}
			return 1
		})
	}
	end := min(start+in.limit(), len(kept))
	body := &listBody{Items: make([]json.RawMessage, 0, end-start)}
	for _, p := range kept[start:end] {
		finish(p.object)
		b, err := p.object.JSON()
		if err != nil {
			return nil, err
		}
		body.Items = append(body.Items, b)
	}
	if end < len(kept) {
		var err error
		if body.NextCursor, err = encodeCursor(kept[end-1].at); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// placed is an object and its place in the order.
type placed struct {
	object *control.Object
	at     position
}

func sortValue(o *control.Object, by string) string {
	if strings.HasSuffix(by, "updatedAt") {
		return fmt.Sprintf("%020d", max(o.UpdatedAt.UnixMicro(), 0))
	}
	return ""
}

func comparePositions(down bool) func(a, b position) int {
	return func(a, b position) int {
		c := cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
		if down {
			return -c
		}
		return c
	}
}

// keeps tells whether an object passes the filters.
func (in *listIn) keeps(o *control.Object) bool {
	if in.Enabled != "" && o.Head().IsEnabled() != (in.Enabled == "true") {
		return false
	}
	q := strings.ToLower(in.Query)
	if q == "" || strings.Contains(strings.ToLower(o.Head().Name), q) {
		return true
	}
	b, err := json.Marshal(o.Object) // without secrets: it is what a GET shows
	if err != nil {
		return false
	}
	var fields map[string]any
	if json.Unmarshal(b, &fields) != nil {
		return false
	}
	delete(fields, "kind")
	return holds(fields, q)
}

// holds finds a lower-case text in any text of a value.
func holds(v any, q string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(strings.ToLower(v), q)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return holds(e, q) })
	case map[string]any:
		for _, e := range v {
			if holds(e, q) {
				return true
			}
		}
	}
	return false
}
