package control

import (
	"context"

	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store"
)

// CompileWith makes the snapshot that the newest configuration would have with
// some steps, for asking what it would decide. It writes and publishes nothing,
// and who owns an object does not matter. Its error is an *Error, or a failure of
// ours.
func (c *Control) CompileWith(ctx context.Context, ops []Op) (*snapshot.Live, error) {
	s, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	b := &Batch{Owner: store.OwnerAPI, TakeOver: true, DryRun: true, Ops: ops}
	if err := c.hashPasswords(ctx, b); err != nil {
		return nil, err
	}
	_, after, err := c.plan(s, b)
	if err != nil {
		return nil, err
	}
	done, problems, err := c.compile(after, written(s, after))
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, refused(problems)
	}
	return done.live, nil
}
