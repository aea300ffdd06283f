package snapshot

import (
	"sync"
	"sync/atomic"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/upstream"
)

// Live is one compiled configuration.
type Live struct {
	Revision uint64
	Routing  *routing.Snapshot
	Targets  map[routing.ProviderID]*upstream.Target
	Keys     *auth.Keys
	// Callers says who is let in besides the holders of keys.
	Callers auth.Rules
	// Users are the people who may use the console.
	Users *auth.Users
	// Models is what is known of models, with what administrators wrote; nil
	// knows none.
	Models *catalog.Models
	// Warnings are what is kept and does nothing, or not what was meant.
	Warnings resource.Problems
}

// Publisher holds the current Live.
type Publisher struct {
	current atomic.Pointer[Live]
	mu      sync.Mutex // one writer at a time
}

// Current returns the newest Live, or nil before the first.
func (p *Publisher) Current() *Live { return p.current.Load() }

// Publish makes next current. It refuses a revision that is older; the same
// one may come again, compiled with other secrets.
func (p *Publisher) Publish(next *Live) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.current.Load()
	if old != nil && next.Revision < old.Revision {
		return false
	}
	p.current.Store(next)
	if old != nil {
		for id, t := range old.Targets {
			if next.Targets[id] != t {
				t.CloseIdle() // running requests keep theirs
			}
		}
	}
	return true
}
