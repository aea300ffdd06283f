package gateway

import (
	"errors"
	"io"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/interlock-gateway/interlock/internal/upstream"
)

// Sizes of buffers, in bytes. Those up to maxPooled have a power of two for
// their size and are used again. Larger ones are not kept: a burst of them would
// stay in memory for ever.
const (
	minPooled = 4 << 10
	maxPooled = 1 << 20
	classes   = 9 // 4 KiB, 8 KiB, … 1 MiB

	// smallBody is what may be taken up to the last byte of the memory; larger
	// request bodies leave a quarter of it to what is small and to answers.
	smallBody = 64 << 10
	// defaultBodies is the memory of bodies unless Options say otherwise.
	defaultBodies = 1 << 30
)

// errNoRoom says that bodies hold as much memory as they may.
var errNoRoom = errors.New("bodies take all the memory that they may")

// memory bounds what bodies hold at once: those of requests, for as long as they
// may have to be sent again, and those of answers that are read whole. Each
// buffer counts with its capacity. Nobody waits for room: who finds none is
// refused, since a queue would hold what it waits with.
type memory struct {
	limit int64 // bytes
	held  atomic.Int64
	pools [classes]sync.Pool // of *buffer
}

func newMemory(limit int64) *memory {
	if limit == 0 {
		limit = defaultBodies
	}
	return &memory{limit: limit}
}

// take counts n bytes, unless there are more than limit then.
func (m *memory) take(n, limit int64) bool {
	for {
		held := m.held.Load()
		if held+n > limit {
			return false
		}
		if m.held.CompareAndSwap(held, held+n) {
			return true
		}
	}
}

func (m *memory) give(n int64) { m.held.Add(-n) }

// buffer holds one body.
type buffer struct {
	b   []byte
	mem *memory
	// paid: what it holds has cost something already, so it may take the room
	// that large request bodies leave.
	paid bool
	// extra is what is counted beside the capacity: the window of a decoder.
	extra int64
	free  func() // release, made once
	body  upstream.Payload
}

// payload is what is in the buffer, as a body that is sent; its last Release
// gives the buffer back.
func (b *buffer) payload() *upstream.Payload {
	b.body.Set(b.b, b.free)
	return &b.body
}

// get gives an empty buffer that grows as it is filled. hint is the expected
// length, or not positive; at most maxPooled of it is believed.
func (m *memory) get(hint int64, paid bool) (*buffer, error) {
	return m.sized(min(hint, maxPooled), paid)
}

// sized gives an empty buffer for n bytes.
func (m *memory) sized(n int64, paid bool) (*buffer, error) {
	c := class(n)
	size := n
	if c < classes {
		size = minPooled << c
	}
	if !m.take(size, m.bound(size, paid)) {
		return nil, errNoRoom
	}
	if c < classes {
		if b, ok := m.pools[c].Get().(*buffer); ok {
			b.paid = paid
			return b, nil
		}
	}
	b := &buffer{b: make([]byte, 0, size), mem: m, paid: paid}
	b.free = b.release
	return b, nil
}

// class is the place of the pool for n bytes; classes if it is too much.
func class(n int64) int {
	if n <= minPooled {
		return 0
	}
	return min(bits.Len64(uint64(n-1)/minPooled), classes)
}

func (m *memory) bound(n int64, paid bool) int64 {
	if paid || n <= smallBody {
		return m.limit
	}
	return m.limit - m.limit/4
}

// release gives the buffer back; it is not used after that.
func (b *buffer) release() {
	m := b.mem
	m.give(int64(cap(b.b)))
	if c := class(int64(cap(b.b))); c < classes && cap(b.b) == minPooled<<c {
		b.b = b.b[:0]
		m.pools[c].Put(b)
		return
	}
	b.b = nil
}

// also counts what is needed beside the buffer, until without says that it is
// not any more.
func (b *buffer) also(n int64) error {
	if !b.mem.take(n, b.mem.bound(n, b.paid)) {
		return errNoRoom
	}
	b.extra += n
	return nil
}

func (b *buffer) without() {
	b.mem.give(b.extra)
	b.extra = 0
}

// fill reads src to its end. length is what is expected, or negative. It stops
// with errTooLarge after limit bytes.
func (b *buffer) fill(src io.Reader, length, limit int64) error {
	if length < 0 || length > limit {
		length = limit
	}
	for {
		if len(b.b) == cap(b.b) {
			if err := b.grow(length + 1); err != nil {
				return err
			}
		}
		n, err := src.Read(b.b[len(b.b):cap(b.b)])
		b.b = b.b[:len(b.b)+n]
		switch {
		case int64(len(b.b)) > limit:
			return errTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// grow doubles the buffer, up to enough bytes. Both are counted while one is
// copied into the other.
func (b *buffer) grow(enough int64) error {
	size := 2 * int64(cap(b.b))
	if enough > int64(cap(b.b)) {
		size = min(size, max(enough, minPooled))
	}
	next, err := b.mem.sized(size, b.paid)
	if err != nil {
		return err
	}
	next.b = append(next.b, b.b...)
	b.b, next.b = next.b, b.b
	next.release()
	return nil
}
