package state

import (
	"container/list"
	"context"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/routing"
)

const (
	pinShares     = 16   // locks, for a store of a usual size
	minPinShare   = 1024 // sessions that a lock of its own is worth
	maxPinsOfOne  = 64   // routes that one session is pinned in
	maxPinSession = 512  // bytes of a session's key
	pinOwners     = 10   // an owner has at most one of so many parts of the places
)

// Pins is what sessions keep, in memory. Of more sessions than fit, those that
// were not used for longest go first. It is safe for use by many goroutines.
//
// A session's key is "<owner>/<session>". An owner with more than a tenth of
// the places loses its own oldest sessions: nobody pushes out everybody else's
// by making sessions up. Keys without an owner share all places.
type Pins struct {
	now    func() time.Time
	seed   maphash.Seed
	shares []pinShare
}

// pinShare holds a part of the sessions under a lock of its own.
type pinShare struct {
	mu       sync.Mutex
	max      int
	sessions map[string]*list.Element // of *pinned
	used     *list.List               // the last one used in front
	owners   map[string]*list.List    // of *pinned by their owner, the last one used in front
}

// pinned is what one session keeps.
type pinned struct {
	session string
	mine    *list.Element // in its owner's list; nil without an owner
	// pins is replaced to be changed: readers have it.
	pins  map[routing.RouteID]routing.Pin
	lives map[routing.RouteID]pinLife
}

// pinLife is how long a pin lives: ttl from its last use.
type pinLife struct {
	ttl   time.Duration
	until time.Time
}

// NewPins makes a store for at most so many sessions; less than 1 counts as 1. A
// large store is divided by sessions, so that what goes first is the oldest of
// a part. A nil clock is the one of the machine.
func NewPins(now func() time.Time, sessions int) *Pins {
	if now == nil {
		now = time.Now
	}
	shares := 1
	if sessions >= pinShares*minPinShare {
		shares = pinShares
	}
	p := &Pins{now: now, seed: maphash.MakeSeed(), shares: make([]pinShare, shares)}
	for i := range p.shares {
		p.shares[i] = pinShare{max: max(sessions/shares, 1), sessions: map[string]*list.Element{}, used: list.New(), owners: map[string]*list.List{}}
	}
	return p
}

// Load is what a session keeps in each route; nil if nothing. It is a use of
// the session: its pins live for their time from now on. The map must not be
// changed.
func (p *Pins) Load(_ context.Context, session string) (map[routing.RouteID]routing.Pin, error) {
	return p.load(session, true), nil
}

// Peek is Load without a use, for dry runs.
func (p *Pins) Peek(_ context.Context, session string) (map[routing.RouteID]routing.Pin, error) {
	return p.load(session, false), nil
}

func (p *Pins) load(session string, use bool) map[routing.RouteID]routing.Pin {
	now, s := p.now(), p.share(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.sessions[session]
	if !ok {
		return nil
	}
	x := e.Value.(*pinned)
	if !use {
		return x.alive(now)
	}
	x.expire(now)
	if len(x.pins) == 0 {
		s.remove(e)
		return nil
	}
	for r, l := range x.lives {
		l.until = now.Add(l.ttl)
		x.lives[r] = l
	}
	s.touch(e)
	return x.pins
}

// Save pins a session in a route for a time from now, and from each use on. A
// time of 0 or less removes the pin.
func (p *Pins) Save(_ context.Context, session string, r routing.RouteID, pin routing.Pin, ttl time.Duration) error {
	if session == "" || len(session) > maxPinSession {
		return nil // nobody that could come back to it
	}
	now, s := p.now(), p.share(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.sessions[session]
	switch {
	case !ok && ttl <= 0:
		return nil
	case !ok:
		e = s.add(strings.Clone(session))
	}
	x := e.Value.(*pinned)
	x.expire(now)
	x.set(r, pin, pinLife{ttl, now.Add(ttl)})
	if len(x.pins) == 0 {
		s.remove(e)
		return nil
	}
	s.touch(e)
	s.bound(x)
	return nil
}

// Len is the number of sessions that are held, those that expired unseen
// included.
func (p *Pins) Len() int {
	n := 0
	for i := range p.shares {
		s := &p.shares[i]
		s.mu.Lock()
		n += len(s.sessions)
		s.mu.Unlock()
	}
	return n
}

func (p *Pins) share(session string) *pinShare {
	if len(p.shares) == 1 {
		return &p.shares[0]
	}
	return &p.shares[maphash.String(p.seed, session)%uint64(len(p.shares))]
}

// ownerOf is whose a session is; empty is nobody's. A session is a hash, so the
// last slash ends the owner.
func ownerOf(session string) string { return session[:max(strings.LastIndexByte(session, '/'), 0)] }

func (s *pinShare) add(session string) *list.Element {
	x := &pinned{session: session, lives: map[routing.RouteID]pinLife{}}
	e := s.used.PushFront(x)
	s.sessions[session] = e
	if owner := ownerOf(session); owner != "" {
		if s.owners[owner] == nil {
			s.owners[owner] = list.New()
		}
		x.mine = s.owners[owner].PushFront(x)
	}
	return e
}

// touch notes a use.
func (s *pinShare) touch(e *list.Element) {
	s.used.MoveToFront(e)
	if x := e.Value.(*pinned); x.mine != nil {
		s.owners[ownerOf(x.session)].MoveToFront(x.mine)
	}
}

// bound drops what is too much after x was saved: of its owner, then of all.
func (s *pinShare) bound(x *pinned) {
	if mine := s.owners[ownerOf(x.session)]; mine != nil {
		for mine.Len() > max(s.max/pinOwners, 1) {
			s.remove(s.sessions[mine.Back().Value.(*pinned).session])
		}
	}
	for len(s.sessions) > s.max {
		s.remove(s.used.Back())
	}
}

func (s *pinShare) remove(e *list.Element) {
	x := e.Value.(*pinned)
	delete(s.sessions, x.session)
	s.used.Remove(e)
	if x.mine == nil {
		return
	}
	owner := ownerOf(x.session)
	if mine := s.owners[owner]; mine.Len() > 1 {
		mine.Remove(x.mine)
	} else {
		delete(s.owners, owner)
	}
}

// set changes one pin in a copy.
func (x *pinned) set(r routing.RouteID, pin routing.Pin, life pinLife) {
	next := maps.Clone(x.pins)
	if next == nil {
		next = map[routing.RouteID]routing.Pin{}
	}
	if life.ttl <= 0 {
		delete(next, r)
		delete(x.lives, r)
	} else {
		if _, ok := next[r]; !ok && len(next) >= maxPinsOfOne {
			old := x.endsFirst()
			delete(next, old)
			delete(x.lives, old)
		}
		next[r] = pin
		x.lives[r] = life
	}
	x.pins = next
}

func (x *pinned) endsFirst() (first routing.RouteID) {
	var until time.Time
	for r, l := range x.lives {
		if until.IsZero() || l.until.Before(until) {
			first, until = r, l.until
		}
	}
	return first
}

// alive are the pins that did not expire.
func (x *pinned) alive(now time.Time) map[routing.RouteID]routing.Pin {
	over := 0
	for _, l := range x.lives {
		if !l.until.After(now) {
			over++
		}
	}
	switch over {
	case 0:
		return x.pins
	case len(x.lives):
		return nil
	}
	next := maps.Clone(x.pins)
	maps.DeleteFunc(next, func(r routing.RouteID, _ routing.Pin) bool { return !x.lives[r].until.After(now) })
	return next
}

// expire forgets the pins that expired.
func (x *pinned) expire(now time.Time) {
	if x.pins = x.alive(now); len(x.pins) < len(x.lives) {
		maps.DeleteFunc(x.lives, func(_ routing.RouteID, l pinLife) bool { return !l.until.After(now) })
	}
}
