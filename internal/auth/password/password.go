package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/argon2"

	"github.com/interlock-gateway/interlock/internal/secret"
)

// The parameters of new hashes: the second choice of OWASP's list, which takes
// the least memory of those that are equally strong.
const (
	memoryKiB = 19 << 10
	passes    = 2
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
)

// Bounds of the parameters of hashes that are read: a damaged or foreign one
// must not take the memory of the machine.
const (
	maxMemoryKiB = 64 << 10
	maxPasses    = 10
	maxLanes     = 4
)

// Errors of a Hasher. Compare with errors.Is.
var (
	// ErrBusy says that too many wait for their turn already.
	ErrBusy = errors.New("too many passwords are checked at this moment")
	// ErrForm says that a text is not a hash that this package reads.
	ErrForm = errors.New("the stored password is damaged")
)

// Hasher makes and checks hashes, a few at once. Use one for all of a process.
type Hasher struct {
	slots   chan struct{}
	waiting atomic.Int32
	most    int32
	runs    atomic.Int64
	peak    atomic.Int32
	running atomic.Int32
}

// New makes a Hasher that runs at most so many at once and lets so many wait.
func New(atOnce, waiting int) *Hasher {
	return &Hasher{slots: make(chan struct{}, max(atOnce, 1)), most: int32(min(max(waiting, 0), 1<<20))}
}

// Runs is how many times argon2 ran, and the most that ran at once.
func (h *Hasher) Runs() (all int64, atOnce int) { return h.runs.Load(), int(h.peak.Load()) }

// Hash makes the hash of a password, with a new salt.
func (h *Hasher) Hash(ctx context.Context, value secret.String) (string, error) {
	var salt [saltBytes]byte
	_, _ = rand.Read(salt[:]) // never fails
	p := params{memoryKiB, passes, lanes, salt[:], nil}
	sum, err := h.run(ctx, value, &p, hashBytes)
	if err != nil {
		return "", err
	}
	p.sum = sum
	return p.String(), nil
}

// Verify tells whether a password is the one of a hash. For an empty hash, as of
// a user who is not there, it takes as long and says no.
func (h *Hasher) Verify(ctx context.Context, hash string, value secret.String) (bool, error) {
	p := params{memoryKiB, passes, lanes, make([]byte, saltBytes), make([]byte, hashBytes)}
	known := hash != ""
	if known {
		var err error
		if p, err = parse(hash); err != nil {
			return false, err
		}
	}
	sum, err := h.run(ctx, value, &p, uint32(len(p.sum)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(sum, p.sum) == 1 && known, nil
}

// run waits for a turn and runs argon2.
func (h *Hasher) run(ctx context.Context, value secret.String, p *params, length uint32) ([]byte, error) {
	if h.waiting.Add(1) > h.most+int32(cap(h.slots)) {
		h.waiting.Add(-1)
		return nil, ErrBusy
	}
	defer h.waiting.Add(-1)
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.slots }()
	h.runs.Add(1)
	n := h.running.Add(1)
	defer h.running.Add(-1)
	for old := h.peak.Load(); n > old && !h.peak.CompareAndSwap(old, n); old = h.peak.Load() {
		continue
	}
	return argon2.IDKey([]byte(value.Reveal()), p.salt, p.passes, p.memory, p.lanes, length), nil
}

// params are the parts of a hash in PHC form.
type params struct {
	memory, passes uint32
	lanes          uint8
	salt, sum      []byte
}

// String is the PHC form: $argon2id$v=19$m=19456,t=2,p=1$SALT$HASH.
func (p *params) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.lanes, b64.EncodeToString(p.salt), b64.EncodeToString(p.sum))
}

// parse reads the PHC form.
func parse(hash string) (params, error) {
	var p params
	var version int
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return p, ErrForm
	}
	if n, err := fmt.Sscanf(parts[2], "v=%d", &version); n != 1 || err != nil || version != argon2.Version {
		return p, ErrForm
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes); n != 3 || err != nil {
		return p, ErrForm
	}
	var err1, err2 error
	p.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	p.sum, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	sound := p.memory >= 8*uint32(p.lanes) && p.memory <= maxMemoryKiB && p.passes >= 1 && p.passes <= maxPasses && p.lanes >= 1 && p.lanes <= maxLanes &&
		len(p.salt) >= 8 && len(p.salt) <= 64 && len(p.sum) >= 16 && len(p.sum) <= 64
	if err1 != nil || err2 != nil || !sound {
		return p, ErrForm
	}
	return p, nil
}
