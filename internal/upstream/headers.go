package upstream

import (
	"net/http"
	"strings"
	"sync"
)

// headers are maps for the head of a request, which is written at once.
var headers headerPool

type headerPool struct{ pool sync.Pool }

func (p *headerPool) get() http.Header {
	if h, ok := p.pool.Get().(http.Header); ok {
		return h
	}
	return make(http.Header, 16)
}

func (p *headerPool) put(h http.Header) {
	clear(h) // it holds a credential
	p.pool.Put(h)
}

// headerSet is an allow-list of canonical header names and prefixes.
type headerSet struct {
	names    map[string]bool
	prefixes []string
}

func newHeaderSet(names []string) headerSet {
	s := headerSet{names: make(map[string]bool, len(names))}
	for _, n := range names {
		if p, ok := strings.CutSuffix(n, "*"); ok {
			s.prefixes = append(s.prefixes, http.CanonicalHeaderKey(p))
			continue
		}
		s.names[http.CanonicalHeaderKey(n)] = true
	}
	return s
}

func (s *headerSet) has(canonical string) bool {
	if s.names[canonical] {
		return true
	}
	for _, p := range s.prefixes {
		if strings.HasPrefix(canonical, p) {
			return true
		}
	}
	return false
}
