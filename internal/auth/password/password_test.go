package password_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/interlock-gateway/interlock/internal/auth/password"
	"github.com/interlock-gateway/interlock/internal/secret"
)

func TestOP_10_argon2id(t *testing.T) {
	h := password.New(2, 8)
	right := secret.New("correct horse battery")
	hash, err := h.Hash(t.Context(), right)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, "horse") {
		t.Fatalf("%q %v", hash, err)
	}
	if again, _ := h.Hash(t.Context(), right); again == hash {
		t.Error("two hashes of one password are the same")
	}
	for value, want := range map[string]bool{"correct horse battery": true, "correct horse batterY": false, "": false, "correct horse battery ": false} {
		if ok, err := h.Verify(t.Context(), hash, secret.New(value)); ok != want || err != nil {
			t.Errorf("%q: %t %v", value, ok, err)
		}
	}
	// A vector of the reference implementation's command line:
	// echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1
	const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if ok, err := h.Verify(t.Context(), reference, secret.New("password")); !ok || err != nil {
		t.Errorf("the reference's hash: %t %v", ok, err)
	}
}

// OP-10: a user who is not there takes a run as well, and no password is theirs.
func TestOP_10_nobody_takes_as_long(t *testing.T) {
	h := password.New(1, 1)
	for _, value := range []string{"", "anything", strings.Repeat("\x00", 32)} {
		before, _ := h.Runs()
		ok, err := h.Verify(t.Context(), "", secret.New(value))
		if after, _ := h.Runs(); ok || err != nil || after != before+1 {
			t.Errorf("%q: %t %v after %d runs", value, ok, err, after-before)
		}
	}
}

func TestOP_10_damaged_hashes_are_refused(t *testing.T) {
	h := password.New(1, 1)
	const salt, sum = "c29tZXNhbHRzb21lc2FsdA", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, hash := range []string{
		"x", "$argon2id$", "$argon2i$v=19$m=19456,t=2,p=1$" + salt + "$" + sum, "$argon2id$v=16$m=19456,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=4194304,t=2,p=1$" + salt + "$" + sum, "$argon2id$v=19$m=19456,t=4000000,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=0,p=1$" + salt + "$" + sum, "$argon2id$v=19$m=19456,t=2,p=0$" + salt + "$" + sum, "$argon2id$v=19$m=1,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=1$$" + sum, "$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$", "$argon2id$v=19$m=19456,t=2,p=1$!$" + sum,
	} {
		if ok, err := h.Verify(t.Context(), hash, secret.New("password")); ok || !errors.Is(err, password.ErrForm) {
			t.Errorf("%s: %t %v", hash, ok, err)
		}
	}
	if n, _ := h.Runs(); n != 0 {
		t.Errorf("%d of them were run", n)
	}
}

// OP-10: however many come at once, few run and few wait.
func TestOP_10_memory_is_bounded(t *testing.T) {
	h := password.New(2, 6)
	var all sync.WaitGroup
	var mu sync.Mutex
	busy := 0
	for range 40 {
		all.Go(func() {
			if _, err := h.Verify(t.Context(), "", secret.New("x")); errors.Is(err, password.ErrBusy) {
				mu.Lock()
				busy++
				mu.Unlock()
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if runs, most := h.Runs(); most > 2 || int(runs)+busy != 40 || busy == 0 {
		t.Errorf("%d ran, %d at once, %d were sent away", runs, most, busy)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	full := password.New(1, 1)
	if _, err := full.Hash(ctx, secret.New("x")); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
