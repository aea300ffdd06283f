package gateway

import (
	"sync"

	"github.com/interlock-gateway/interlock/internal/audit"
)

// recordPool keeps records so that settling a request allocates nothing.
var recordPool records

type records struct{ pool sync.Pool }

func (p *records) get() *audit.Record {
	if r, ok := p.pool.Get().(*audit.Record); ok {
		return r
	}
	return &audit.Record{Attempts: make([]audit.Attempt, 0, 4)}
}

func (p *records) put(r *audit.Record) {
	*r = audit.Record{Attempts: r.Attempts[:0], Skips: r.Skips[:0], Tags: r.Tags[:0], Facts: r.Facts[:0]}
	p.pool.Put(r)
}
