package store

import (
	"context"
	"time"
)

// Session is a person who is signed in to the console. Who may do what, and
// until when, is for others to say.
type Session struct {
	// Hash is SHA-256 of the token in the cookie.
	Hash [32]byte
	// Name is whose it is, and Via how they signed in.
	Name, Via string
	// Role is set for who has none in the configuration.
	Role string
	// Stamp tells the credential or the rule that let them in from later ones.
	Stamp     string
	CreatedAt time.Time
	// SeenAt is when it was last used, to the minute.
	SeenAt time.Time
}

// Sessions keeps who is signed in, across restarts. Nothing of it is part of the
// configuration or of its history.
type Sessions interface {
	// AddSession stores a new session; ErrConflict if its hash is taken.
	AddSession(ctx context.Context, s Session) error
	// FindSession reads a session. ErrNotFound if there is none.
	FindSession(ctx context.Context, hash [32]byte) (*Session, error)
	// SeeSession sets SeenAt. It never makes a session that was ended.
	SeeSession(ctx context.Context, hash [32]byte, at time.Time) error
	// EndSession removes a session; one that is not there is fine.
	EndSession(ctx context.Context, hash [32]byte) error
	// SessionsVia lists the sessions of one way to sign in.
	SessionsVia(ctx context.Context, via string) ([]Session, error)
	// EndSessions removes those that were not seen since a time, or are older
	// than another, and says how many.
	EndSessions(ctx context.Context, seenBefore, createdBefore time.Time) (int, error)
}
