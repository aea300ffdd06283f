package storetest

import (
	"errors"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

func session(n int, name string, second int) store.Session {
	return store.Session{Hash: hash(n), Name: name, Via: "password", Stamp: "s", CreatedAt: at(second), SeenAt: at(second)}
}

func sessionTests() []test {
	return []test{
		{"a session is stored whole, and outlives a restart", func(f *fixture) {
			s := store.Session{Hash: hash(7), Name: "Åsa \"'", Via: "oidc", Role: "viewer", Stamp: "x", CreatedAt: at(1), SeenAt: at(2)}
			f.must(f.store.AddSession(f.Context(), s))
			f.reopen()
			got, err := f.store.FindSession(f.Context(), hash(7))
			f.must(err)
			f.same("the session", *got, s)
		}},
		{"a hash is one session's", func(f *fixture) {
			f.must(f.store.AddSession(f.Context(), session(1, "a", 1)))
			if err := f.store.AddSession(f.Context(), session(1, "b", 2)); !errors.Is(err, store.ErrConflict) {
				f.Errorf("%v", err)
			}
			got, err := f.store.FindSession(f.Context(), hash(1))
			f.must(err)
			f.same("the name", got.Name, "a")
		}},
		{"an ended session is gone, and using it does not bring it back", func(f *fixture) {
			f.must(f.store.AddSession(f.Context(), session(1, "a", 1)))
			f.must(f.store.EndSession(f.Context(), hash(1)))
			f.must(f.store.EndSession(f.Context(), hash(1)))
			f.must(f.store.SeeSession(f.Context(), hash(1), at(9)))
			if _, err := f.store.FindSession(f.Context(), hash(1)); !errors.Is(err, store.ErrNotFound) {
				f.Errorf("%v", err)
			}
		}},
		{"use is noted, and never goes back", func(f *fixture) {
			f.must(f.store.AddSession(f.Context(), session(1, "a", 5)))
			for _, s := range []struct{ at, want int }{{7, 7}, {6, 7}} {
				f.must(f.store.SeeSession(f.Context(), hash(1), at(s.at)))
				got, err := f.store.FindSession(f.Context(), hash(1))
				f.must(err)
				f.same("seen", got.SeenAt, at(s.want))
			}
		}},
		{"sessions are listed by how they began", func(f *fixture) {
			f.must(f.store.AddSession(f.Context(), session(2, "b", 2)))
			f.must(f.store.AddSession(f.Context(), session(1, "a", 1)))
			list, err := f.store.SessionsVia(f.Context(), "password")
			f.must(err)
			f.same("the list", list, []store.Session{session(1, "a", 1), session(2, "b", 2)})
			list, err = f.store.SessionsVia(f.Context(), "oidc")
			f.must(err)
			f.same("another list", len(list), 0)
		}},
		{"old sessions are ended", func(f *fixture) {
			for n := range 4 {
				s := session(n+1, "a", 10*n)
				s.SeenAt = s.CreatedAt.Add(5 * time.Second)
				f.must(f.store.AddSession(f.Context(), s))
			}
			n, err := f.store.EndSessions(f.Context(), at(6), at(11)) // the first by both, the second by its age
			f.must(err)
			f.same("ended", n, 2)
			list, err := f.store.SessionsVia(f.Context(), "password")
			f.must(err)
			f.same("left", len(list), 2)
		}},
	}
}
