package secret_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/secret"
)

func box(t *testing.T, masters ...string) *secret.Box {
	t.Helper()
	keys := make([][]byte, len(masters))
	for i, m := range masters {
		keys[i] = bytes.Repeat([]byte(m), 32)
	}
	b, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBox_OP_9_opens_what_it_sealed_and_shows_nothing(t *testing.T) {
	b := box(t, "a")
	sealed := b.Seal(secret.New("sk-ant-very-secret"), "Provider/main/apiKey")
	if strings.Contains(sealed, "very") || !secret.IsSealed(sealed) {
		t.Errorf("sealed form %q", sealed)
	}
	if again := b.Seal(secret.New("sk-ant-very-secret"), "Provider/main/apiKey"); again == sealed {
		t.Error("the same value seals to the same text: equal secrets would show")
	}
	got, err := b.Open(sealed, "Provider/main/apiKey")
	if err != nil || got.Reveal() != "sk-ant-very-secret" {
		t.Errorf("opened %q, %v", got.Reveal(), err)
	}
}

func TestBox_OP_9_refuses(t *testing.T) {
	b := box(t, "a")
	sealed := b.Seal(secret.New("value"), "here")
	flipped := []byte(sealed)
	flipped[len(flipped)-3] ^= 1
	for name, c := range map[string]struct{ text, place string }{
		"another place":      {sealed, "there"},
		"a damaged text":     {string(flipped), "here"},
		"another master key": {box(t, "b").Seal(secret.New("value"), "here"), "here"},
		"a plain text":       {"sk-plain", "here"},
		"no base64":          {sealed[:len(sealed)-4] + "!!!!", "here"},
		"nothing":            {"", "here"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := b.Open(c.text, c.place); !errors.Is(err, secret.ErrUnsealed) {
				t.Errorf("opened %q, %v", got.Reveal(), err)
			}
		})
	}
}

func TestBox_OP_9_changes_its_master_key(t *testing.T) {
	old := box(t, "a")
	sealed := old.Seal(secret.New("value"), "p")
	both := box(t, "b", "a")
	got, err := both.Open(sealed, "p")
	if err != nil || got.Reveal() != "value" || !both.Stale(sealed) {
		t.Fatalf("opened %q, %v, stale %t", got.Reveal(), err, both.Stale(sealed))
	}
	renewed := both.Seal(got, "p")
	if both.Stale(renewed) {
		t.Error("sealed with the new key and stale")
	}
	if _, err := box(t, "b").Open(renewed, "p"); err != nil {
		t.Errorf("the new key alone: %v", err)
	}
}

func TestNewBox_refuses_short_keys(t *testing.T) {
	if _, err := secret.NewBox([]byte("short")); err == nil {
		t.Error("a short master key was taken")
	}
	if _, err := secret.NewBox(); err == nil {
		t.Error("no master key was taken")
	}
}
