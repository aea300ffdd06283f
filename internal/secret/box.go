package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// sealedPrefix marks a sealed text. The version is for a change of algorithm.
const sealedPrefix = "sealed:v1:"

// ErrUnsealed says that a sealed text cannot be opened with the keys at hand, or was
// sealed for another place.
var ErrUnsealed = errors.New("the secret cannot be decrypted")

// Box seals secrets with AES-256-GCM under keys derived from master keys. It
// seals with the first master key and opens with any, so that keys can be
// changed while old texts are still there. It is safe for concurrent use.
type Box struct {
	ids []string // by master key, the first one seals
	gcm map[string]cipher.AEAD
}

// NewBox makes a Box. A master key has at least 32 bytes of entropy; the first
// one seals.
func NewBox(masters ...[]byte) (*Box, error) {
	if len(masters) == 0 {
		return nil, errors.New("no master key")
	}
	b := &Box{gcm: map[string]cipher.AEAD{}}
	for _, m := range masters {
		if len(m) < 32 {
			return nil, errors.New("a master key is shorter than 32 bytes")
		}
		key, err := hkdf.Key(sha256.New, m, nil, "interlock secrets v1", 32)
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		name, err := hkdf.Key(sha256.New, m, nil, "interlock key id v1", 4)
		if err != nil {
			return nil, fmt.Errorf("derive a key id: %w", err)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("make a cipher: %w", err)
		}
		gcm, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("make a cipher: %w", err)
		}
		id := hex.EncodeToString(name)
		b.ids = append(b.ids, id)
		b.gcm[id] = gcm
	}
	return b, nil
}

// Seal encrypts a value for a place, such as "Provider/main/apiKey". Moved to
// another place it cannot be opened.
func (b *Box) Seal(value String, place string) string {
	id := b.ids[0]
	return sealedPrefix + id + ":" + base64.RawStdEncoding.EncodeToString(b.gcm[id].Seal(nil, nil, []byte(value.Reveal()), []byte(place))) //nolint:gosec // the cipher adds its own random nonce
}

// Open decrypts what Seal made for the same place.
func (b *Box) Open(sealed, place string) (String, error) {
	rest, ok := strings.CutPrefix(sealed, sealedPrefix)
	id, text, found := strings.Cut(rest, ":")
	gcm := b.gcm[id]
	if !ok || !found {
		return String{}, fmt.Errorf("%w: it is not in sealed form", ErrUnsealed)
	}
	if gcm == nil {
		return String{}, fmt.Errorf("%w: it was sealed with the master key %s, which this process does not have", ErrUnsealed, id)
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return String{}, fmt.Errorf("%w: it is damaged", ErrUnsealed)
	}
	value, err := gcm.Open(nil, nil, raw, []byte(place))
	if err != nil {
		return String{}, fmt.Errorf("%w: it is damaged or was sealed for another object", ErrUnsealed)
	}
	return New(string(value)), nil
}

// Stale tells whether a sealed text was not made with the key that seals now.
func (b *Box) Stale(sealed string) bool {
	return !strings.HasPrefix(sealed, sealedPrefix+b.ids[0]+":")
}

// KeyID names the master key that seals; it does not give the key away.
func (b *Box) KeyID() string { return b.ids[0] }

// IsSealed tells whether a text is in sealed form.
func IsSealed(s string) bool { return strings.HasPrefix(s, sealedPrefix) }
