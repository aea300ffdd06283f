package auth

import (
	"context"
	"time"
)

// Identity is what a verified token says of its holder. Requests share it:
// nobody changes it.
type Identity struct {
	// Issuer is the configured name of the issuer; it is also the caller's
	// source.
	Issuer string
	// The rest is what the issuer's claims were mapped to; empty if nothing was
	// mapped or the token does not say.
	User           string
	Groups         []string
	Labels         map[string]string
	Agent          string
	Workload       string
	Namespace      string
	ServiceAccount string
}

// Issuers are the trusted issuers of JWTs. Package issuer implements it.
type Issuers interface {
	// Recognise returns a credential as a token if it says that one of the
	// issuers made it, and nil for any other: that is a matter of form, and
	// proves nothing.
	Recognise(credential string) Token
}

// Token is a credential that claims to be a trusted issuer's.
type Token interface {
	// Verify proves it and returns its holder; it may have to fetch the
	// issuer's keys. Its error is an *Error, or an *UnavailableError if it
	// can't be told now.
	Verify(ctx context.Context) (*Identity, error)
}

// UnavailableError says that nobody can tell now who is calling. That is not
// the caller's fault, and no reason to make it sign in again.
type UnavailableError struct {
	Message    string
	RetryAfter time.Duration
}

func (e *UnavailableError) Error() string { return e.Message }

// recognise is for a gateway without issuers as well.
func recognise(issuers Issuers, credential string) Token {
	if issuers == nil {
		return nil
	}
	return issuers.Recognise(credential)
}
