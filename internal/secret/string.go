package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

const mask = "***"

// String is a secret text. The zero value is the empty secret.
type String struct {
	// A pointer, because fmt calls no methods on unexported fields of other
	// structs: there it prints an address instead of the value.
	p *string
}

// New wraps a value.
func New(value string) String { return String{p: &value} }

// Reveal gives the value. Call it only where the secret is used.
func (s String) Reveal() string {
	if s.p == nil {
		return ""
	}
	return *s.p
}

// IsZero tells whether the secret is empty.
func (s String) IsZero() bool { return s.Reveal() == "" }

// Equal compares in constant time for values of the same length.
func (s String) Equal(other String) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// Last4 gives the last four characters of a secret that has at least as many
// others, else "".
func (s String) Last4() string {
	v := []rune(s.Reveal())
	if len(v) < 8 {
		return ""
	}
	return string(v[len(v)-4:])
}

// String hides the value.
func (s String) String() string { return mask }

// GoString hides the value.
func (s String) GoString() string { return mask }

// Format hides the value, whatever the verb.
func (s String) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) }

// MarshalText hides the value.
func (s String) MarshalText() ([]byte, error) { return []byte(mask), nil }

// MarshalJSON hides the value.
func (s String) MarshalJSON() ([]byte, error) { return []byte(`"` + mask + `"`), nil }

// LogValue hides the value.
func (s String) LogValue() slog.Value { return slog.StringValue(mask) }
