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

// exchanges keeps what a request needs while it runs. Nothing that outlives the
// request may point into an exchange: the writer and the watchdog, whose timers
// can fire late, are not part of it.
var exchanges exchangePool

type exchangePool struct{ pool sync.Pool }

func (p *exchangePool) get() *exchange {
	if ex, ok := p.pool.Get().(*exchange); ok {
		return ex
	}
	return &exchange{}
}

// put is not called after a panic: nobody knows then who still uses what.
func (p *exchangePool) put(ex *exchange) {
	clear(ex.attempts)
	clear(ex.skips)
	*ex = exchange{attempts: ex.attempts[:0], skips: ex.skips[:0]}
	p.pool.Put(ex)
}
