package control

import (
	"fmt"

	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/store"
)

// Error is a change or a look-up that is refused. Its fields are public.
type Error struct {
	// Status is the HTTP status: 400, 404, 409, 412 or 503.
	Status int
	// Code is machine-readable, such as "invalid", "in_use", "stale".
	Code     string
	Detail   string
	Problems resource.Problems
}

func (e *Error) Error() string {
	if len(e.Problems) > 0 {
		return e.Detail + ": " + e.Problems.Error()
	}
	return e.Detail
}

func notFound(kind, name string) *Error {
	return &Error{Status: 404, Code: "not_found", Detail: fmt.Sprintf("there is no %s %q", kind, name)}
}

// stale refuses a change of an object that was changed meanwhile.
func stale(d *store.Document, version int64) *Error {
	return &Error{Status: 412, Code: "stale", Detail: fmt.Sprintf("%s was changed meanwhile: it has version %d, not %d. Load it again and repeat the change", resource.Ref{Kind: d.Kind, Name: d.Name}, d.Version, version)}
}

// refused turns the compiler's problems into one error. Taken names and
// objects in use are conflicts with what is there; everything else is a wrong
// request.
func refused(problems resource.Problems) *Error {
	e := &Error{Status: 400, Code: problems[0].Code, Detail: "the change is refused", Problems: problems}
	for _, p := range problems {
		if p.Code != "name_taken" && p.Code != "in_use" {
			return e
		}
	}
	e.Status = 409
	return e
}
