package state

import (
	"maps"
	"sync"
	"sync/atomic"
)

// table is a map for many readers and few writers: it is copied to be changed,
// so that a look-up takes no lock.
type table[V any] struct {
	mu  sync.Mutex
	now atomic.Pointer[map[string]V]
}

// all is the map as it is; it must not be changed.
func (t *table[V]) all() map[string]V {
	if m := t.now.Load(); m != nil {
		return *m
	}
	return nil
}

func (t *table[V]) get(key string) (V, bool) {
	v, ok := t.all()[key]
	return v, ok
}

// add adds a value unless there is one, and returns the one that is there.
func (t *table[V]) add(key string, v V) V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if have, ok := t.get(key); ok {
		return have
	}
	next := make(map[string]V, len(t.all())+1)
	maps.Copy(next, t.all())
	next[key] = v
	t.now.Store(&next)
	return v
}

// drop removes the values that out tells to, and says which they are.
func (t *table[V]) drop(out func(key string, v V) bool) []V {
	t.mu.Lock()
	defer t.mu.Unlock()
	var gone []V
	next := make(map[string]V, len(t.all()))
	for k, v := range t.all() {
		if out(k, v) {
			gone = append(gone, v)
		} else {
			next[k] = v
		}
	}
	if len(gone) > 0 {
		t.now.Store(&next)
	}
	return gone
}
