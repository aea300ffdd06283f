package failure

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestFromTransport(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("dial: %w", err) }
	for name, row := range map[string]struct {
		err  error
		left bool
		want Category
	}{
		"RT-FO-NET a refused connection":        {err: wrap(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), want: Connection},
		"RT-FO-NET a name that does not exist":  {err: wrap(&net.DNSError{IsNotFound: true}), want: Connection},
		"RT-FO-NET a certificate":               {err: wrap(x509.UnknownAuthorityError{}), want: Connection},
		"RT-FO-NET a connection that was cut":   {err: wrap(io.ErrUnexpectedEOF), want: Connection},
		"RT-FO-NET no error at all":             {want: Connection},
		"RT-FO-TIME a deadline":                 {err: wrap(context.DeadlineExceeded), want: Timeout},
		"RT-FO-TIME a deadline of a connection": {err: wrap(os.ErrDeadlineExceeded), want: Timeout},
		"RT-FO-TIME a slow name server":         {err: wrap(&net.DNSError{IsTimeout: true}), want: Timeout},
		"RT-FO-TIME a connection that hangs":    {err: wrap(&net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}), want: Timeout},
		"a cancelled context":                   {err: wrap(context.Canceled), want: Canceled},
		"a client that left":                    {err: errors.New("anything"), left: true, want: Canceled},
		"a client that left at a deadline":      {err: context.DeadlineExceeded, left: true, want: Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			f := FromTransport(row.err, row.left)
			if f != (Failure{Category: row.want}) {
				t.Errorf("got %v, want %s", f, row.want)
			}
		})
	}
}
