package issuer

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth"
)

// generation is half of how many tokens are remembered.
const generation = 5_000

// known is a token that was verified, and that stands for its holder until it
// has to be looked at again. It implements auth.Token.
type known struct {
	identity *auth.Identity
	until    time.Time
}

// Verify implements auth.Token.
func (k *known) Verify(context.Context) (*auth.Identity, error) { return k.identity, nil }

// cache remembers verified tokens by their hash. Two generations bound it
// without a list of who was used last: when the younger is full it becomes the
// older, whose tokens are forgotten unless they come again.
type cache struct {
	mu           sync.RWMutex
	young, older map[[sha256.Size]byte]*known
}

// get returns nil for a token that is not known, or not any more.
func (c *cache) get(hash [sha256.Size]byte, now time.Time) *known {
	c.mu.RLock()
	k := c.young[hash]
	old := false
	if k == nil {
		k, old = c.older[hash], true
	}
	c.mu.RUnlock()
	if k == nil || !now.Before(k.until) {
		return nil
	}
	if old {
		c.put(hash, k)
	}
	return k
}

func (c *cache) put(hash [sha256.Size]byte, k *known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.young == nil || len(c.young) >= generation {
		c.young, c.older = map[[sha256.Size]byte]*known{}, c.young
	}
	c.young[hash] = k
}
