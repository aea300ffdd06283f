package admin

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/control"
)

// WriteParams are the parameters of every write. They are exported, as the
// others, because huma looks only into exported fields.
type WriteParams struct {
	DryRun bool `query:"dryRun" doc:"Check the change and answer what it would do; nothing is written."`
}

// MatchParams are the conditions of a write on an object.
type MatchParams struct {
	IfMatch string `header:"If-Match" doc:"The ETag that the object must still have; 412 if it was changed. * is any, as long as the object is there."`
}

// NewParams are the condition that an object is not there.
type NewParams struct {
	IfNoneMatch string `header:"If-None-Match" doc:"* writes only if the object is not there yet; 412 if it is."`
}

// precondition is what must hold for a write.
type precondition struct {
	version       int64 // 0: any
	exist, absent bool
	// never: the ETag is of a form that no object has.
	never bool
}

// ifMatch reads the conditions of a request.
func ifMatch(match, none string) (precondition, error) {
	var p precondition
	switch strings.TrimSpace(none) {
	case "":
	case "*":
		p.absent = true
	default:
		return p, invalid("header.If-None-Match", "only * is possible: write if the object is not there yet")
	}
	tag := strings.TrimSpace(match)
	switch {
	case tag == "":
		return p, nil
	case p.absent:
		return p, invalid("header.If-Match", "If-Match and If-None-Match can't both hold; send one of them")
	case tag == "*":
		p.exist = true
		return p, nil
	}
	tag = strings.TrimPrefix(tag, "W/") // proxies weaken ETags of answers that they compress
	if text, ok := strings.CutPrefix(tag, `"`); ok {
		if text, ok = strings.CutSuffix(text, `"`); !ok || strings.Contains(text, `"`) {
			return p, invalid("header.If-Match", `write one ETag in quotes, such as "3"`)
		}
		tag = text
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	p.version, p.never = n, err != nil || n < 0 || strconv.FormatInt(n, 10) != tag
	if !p.never && n == 0 { // the version of what is not written yet
		p.absent = true
	}
	return p, nil
}

// put adds the conditions to a step of a change.
func (p precondition) put(op *control.Op) error {
	if p.never {
		return fault(http.StatusPreconditionFailed, "stale", "the If-Match is no version of this object; load it again and repeat the change")
	}
	op.IfVersion, op.Create, op.Replace = p.version, p.absent, p.exist
	return nil
}

// failed makes the errors of a condition that did not hold 412, as HTTP has
// it.
func (p precondition) failed(err error) error {
	var e *control.Error
	if !errors.As(err, &e) || len(e.Problems) > 0 {
		return err
	}
	if p.absent && e.Code == "name_taken" || p.exist && e.Status == http.StatusNotFound {
		return &control.Error{Status: http.StatusPreconditionFailed, Code: "stale", Detail: e.Detail}
	}
	return err
}

// etag is the ETag of a version.
func etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }
