package fakellm

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// KeepNone as Options.KeepRecords keeps no records, for load tests.
const KeepNone = -1

const (
	defaultKeepRecords = 10_000
	defaultKeepBytes   = 256 << 20
	controlPrefix      = "/__fake/"
)

// Options configure a Server. The zero value is useful.
type Options struct {
	// KeepRecords is how many requests Records remembers, the newest ones.
	// 0 means 10,000; KeepNone switches records off.
	KeepRecords int
	// KeepBytes bounds the request bodies in records, so that a long test with
	// large bodies does not fill the memory. 0 means 256 MiB.
	KeepBytes int64
	// Log, if set, gets one JSON line per finished request.
	Log io.Writer
	// Reply is the content of answers that no rule scripts.
	Reply Reply
}

// Server is one fake provider. Use New.
type Server struct {
	opts    Options
	start   time.Time
	rules   ruleSet
	records recorder
	noRule  *compiled // for requests without a rule: a plain, good answer

	seq      atomic.Int64
	inFlight atomic.Int64
	gone     atomic.Int64

	notesMu sync.Mutex
	notes   []string

	closed    chan struct{}
	closeOnce sync.Once
	serving   sync.WaitGroup
	closersMu sync.Mutex
	closers   []io.Closer
}

// New returns a Server with no rules and no records.
func New(opts Options) *Server {
	if opts.KeepRecords == 0 {
		opts.KeepRecords = defaultKeepRecords
	}
	if opts.KeepBytes == 0 {
		opts.KeepBytes = defaultKeepBytes
	}
	return &Server{
		opts:    opts,
		start:   time.Now(),
		records: recorder{max: max(0, opts.KeepRecords), maxBytes: opts.KeepBytes, log: opts.Log},
		noRule:  &compiled{},
		closed:  make(chan struct{}),
	}
}

// ServeHTTP answers one request, or one command to the control plane.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		s.control(w, r)
		return
	}
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	c := s.newCall(w, r)
	// Deferred, since a fault may leave by panic(http.ErrAbortHandler).
	defer c.finish()
	c.answer()
}

// SetRules replaces all rules. A rule with a bad expression or an unknown
// action is an error and leaves the old rules in place.
func (s *Server) SetRules(rules []Rule) error { return s.rules.replace(rules) }

// AddRule appends a rule; earlier ones are tried first.
func (s *Server) AddRule(r Rule) error { return s.rules.add([]Rule{r}) }

// Reset forgets rules, records and notes. Request numbers go on counting, so
// that ids in answers stay unique.
func (s *Server) Reset() {
	s.rules.clear()
	s.records.clear()
	s.notesMu.Lock()
	s.notes = nil
	s.notesMu.Unlock()
}

// Records returns what was observed since the last Reset, oldest first,
// requests that still run included.
func (s *Server) Records() []Record { return s.records.all() }

// InFlight is the number of provider requests being answered now.
func (s *Server) InFlight() int { return int(s.inFlight.Load()) }

// Requests is the number of provider requests since New.
func (s *Server) Requests() int64 { return s.seq.Load() }

// Gone is the number of requests since New whose client left before the end
// of the answer.
func (s *Server) Gone() int64 { return s.gone.Load() }

// Notes returns the DNS and TLS sightings since the last Reset.
func (s *Server) Notes() []string {
	s.notesMu.Lock()
	defer s.notesMu.Unlock()
	return append([]string(nil), s.notes...)
}

func (s *Server) note(format string, a ...any) {
	line := fmt.Sprintf("%.2f ", time.Since(s.start).Seconds()) + fmt.Sprintf(format, a...)
	s.notesMu.Lock()
	s.notes = append(s.notes, line)
	s.notesMu.Unlock()
}
