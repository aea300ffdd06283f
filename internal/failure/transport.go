package failure

import (
	"context"
	"errors"
)

// FromTransport says what an attempt ended in that brought no answer.
// canceledByClient: the caller went away, whatever the error says.
//
// A time limit of our own that ends the attempt by cancelling its context
// would look like a cancelled client: pass context.Cause with a cause that
// wraps context.DeadlineExceeded.
func FromTransport(err error, canceledByClient bool) Failure {
	if canceledByClient {
		return Failure{Category: Canceled}
	}
	var limited interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &limited) && limited.Timeout():
		return Failure{Category: Timeout}
	case errors.Is(err, context.Canceled):
		return Failure{Category: Canceled}
	}
	return Failure{Category: Connection}
}
