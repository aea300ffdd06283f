package feed

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Limits of a Hub.
const (
	// MaxReaders bounds those who listen at once, and MaxPerName those of one
	// name.
	MaxReaders = 128
	MaxPerName = 16
	// buffer is how many events a reader may be behind.
	buffer = 128
)

// Reasons why somebody can't listen. Compare with errors.Is.
var (
	ErrTooMany = errors.New("too many listen already")
	ErrClosed  = errors.New("the server is stopping")
)

// Event is a piece of news. Data is not changed after it was published.
type Event struct {
	Kind string
	Data any
}

// Hub hands events to readers. Its zero value is ready. It is safe for
// concurrent use.
type Hub struct {
	count  atomic.Int32
	stored atomic.Int64

	mu      sync.Mutex
	readers map[*Reader]string
	names   map[string]int
	pumping bool
	woken   chan struct{}
	done    chan struct{}
	closed  bool
}

// Reader gets events.
type Reader struct {
	// C has the events.
	C    <-chan Event
	c    chan Event
	lost atomic.Int64
	hub  *Hub
}

// Lost is how many events were lost since it was last asked.
func (r *Reader) Lost() int { return int(r.lost.Swap(0)) }

// init makes the channels; the mutex is held.
func (h *Hub) init() {
	if h.done == nil {
		h.done, h.woken = make(chan struct{}), make(chan struct{}, 1)
		h.readers, h.names = map[*Reader]string{}, map[string]int{}
	}
}

// Listen makes a reader for somebody.
func (h *Hub) Listen(name string) (*Reader, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.init()
	switch {
	case h.closed:
		return nil, ErrClosed
	case len(h.readers) >= MaxReaders, h.names[name] >= MaxPerName:
		return nil, ErrTooMany
	}
	c := make(chan Event, buffer)
	r := &Reader{C: c, c: c, hub: h}
	h.readers[r] = name
	h.names[name]++
	h.count.Add(1)
	return r, nil
}

// Close ends the reader.
func (r *Reader) Close() {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	name, ok := h.readers[r]
	if !ok {
		return
	}
	delete(h.readers, r)
	if h.names[name]--; h.names[name] == 0 {
		delete(h.names, name)
	}
	h.count.Add(-1)
	if len(h.readers) == 0 {
		h.wake() // the pump has nobody to work for
	}
}

// Publish hands an event to all readers.
func (h *Hub) Publish(e Event) {
	if h.count.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.readers {
		select {
		case r.c <- e:
		default:
			r.lost.Add(1)
		}
	}
}

// Stored notes that so many requests were stored and can be read.
func (h *Hub) Stored(n int) {
	if n == 0 || h.count.Load() == 0 {
		return
	}
	h.stored.Add(int64(n))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wake()
}

// wake wakes the pump; the mutex is held.
func (h *Hub) wake() {
	select {
	case h.woken <- struct{}{}:
	default: // it looks anyway
	}
}

// Pump is the work of whoever reads what was stored and publishes it: one at a
// time, and only while somebody listens.
type Pump struct{ hub *Hub }

// StartPump tells a reader that the pump does not run: it has to start it.
func (h *Hub) StartPump() (*Pump, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pumping || h.closed || len(h.readers) == 0 {
		return nil, false
	}
	h.pumping = true
	h.stored.Store(0)
	return &Pump{h}, true
}

// Wait waits until requests were stored and says how many; ok is false when
// the pump has to end.
func (p *Pump) Wait() (n int, ok bool) {
	h := p.hub
	for {
		select {
		case <-h.done:
		case <-h.woken:
		}
		h.mu.Lock()
		if h.closed || len(h.readers) == 0 {
			h.pumping = false
			h.mu.Unlock()
			return 0, false
		}
		h.mu.Unlock()
		if n := h.stored.Swap(0); n > 0 {
			return int(n), true
		}
	}
}

// Done is closed when the hub is.
func (h *Hub) Done() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.init()
	return h.done
}

// Close ends everything: a server that stops waits for nobody who listens.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.init()
	if !h.closed {
		h.closed = true
		close(h.done)
	}
}
