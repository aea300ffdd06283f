package issuer

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/auth"
)

// What was verified is remembered in bounded memory; what is in use stays.
func TestCache_RQ_CRED_is_bounded(t *testing.T) {
	var c cache
	now := time.Now()
	hash := func(i int) [sha256.Size]byte {
		return sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	}
	used := &known{identity: &auth.Identity{User: "used"}, until: now.Add(time.Hour)}
	c.put(hash(-1), used)
	for i := range 5 * generation {
		c.put(hash(i), &known{until: now.Add(time.Hour)})
		if i%100 == 0 && c.get(hash(-1), now) != used {
			t.Fatalf("what is in use is forgotten after %d others", i)
		}
		if n := len(c.young) + len(c.older); n > 2*generation {
			t.Fatalf("%d tokens are kept", n)
		}
	}
	if c.get(hash(0), now) != nil {
		t.Error("nothing is forgotten")
	}
	if c.get(hash(-1), now.Add(time.Hour)) != nil {
		t.Error("it is good for longer than it says")
	}
}

// An issuer with TLS must not lead to a place without.
func TestTransport_RQ_CRED_stays_with_TLS(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	client := newClient(time.Second, true)
	client.Transport.(*transport).next = secure.Client().Transport
	for _, url := range []string{plain.URL, secure.URL} {
		resp, err := client.Get(url)
		if err == nil {
			resp.Body.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "without") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if !isTLS("HTTPS://x") || isTLS("http://x") {
		t.Error("isTLS")
	}
}
