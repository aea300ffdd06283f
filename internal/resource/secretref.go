package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// SecretRef is a secret reference inside an object.
type SecretRef struct {
	// Path is the field, relative to the object.
	Path string
	// Ref is env:NAME, file:PATH or, where allowed, a literal. In the store a
	// literal is sealed.
	Ref string
}

// SecretField is a field that holds a secret reference.
type SecretField struct {
	Path  string
	Value *string
}

// secretHolder is an object with secret references.
type secretHolder interface{ secretFields() []SecretField }

// SecretFields gives the fields of an object that hold secret references, the
// empty ones too.
func SecretFields(o Object) []SecretField {
	if h, ok := o.(secretHolder); ok {
		return h.secretFields()
	}
	return nil
}

// SecretRefs gives the secret references that an object holds, without the
// empty ones.
func SecretRefs(o Object) []SecretRef {
	var out []SecretRef
	for _, f := range SecretFields(o) {
		if *f.Value != "" {
			out = append(out, SecretRef{f.Path, *f.Value})
		}
	}
	return out
}

// EmptySecret says what is wrong with an empty text in place of a secret: it
// could mean either of two things.
const EmptySecret = "an empty text is no secret; leave the field out to keep what is stored, or write null to remove it"

// IsOff tells whether an object takes no requests, since it is disabled or
// drained. Its secrets need not be readable: what has lost its secret can be
// switched off.
func IsOff(o Object) bool {
	p, ok := o.(*Provider)
	return !o.Head().IsEnabled() || ok && p.Drained
}

// SealedPrefix begins a secret that the store keeps encrypted.
const SealedPrefix = "sealed:"

// IsSealedSecret tells whether a reference is a literal as it is stored. Nobody
// but the store may write one.
func IsSealedSecret(ref string) bool {
	return strings.HasPrefix(ref, SealedPrefix) || strings.HasPrefix(ref, hashedPrefix)
}

// hashedPrefix begins what is kept of a key's secret that a document writes out:
// its hash and its last characters.
const hashedPrefix = "hashed:sha256:"

// HashedSecret is the form in which a document keeps a key's secret.
func HashedSecret(hash [sha256.Size]byte, last4 string) string {
	return hashedPrefix + hex.EncodeToString(hash[:]) + ":" + last4
}

// SecretHash reads that form; ok is false for any other.
func SecretHash(ref string) (hash [sha256.Size]byte, last4 string, ok bool) {
	text, ok := strings.CutPrefix(ref, hashedPrefix)
	if !ok {
		return hash, "", false
	}
	text, last4, _ = strings.Cut(text, ":")
	n, err := hex.Decode(hash[:], []byte(text[:min(len(text), 2*len(hash))]))
	return hash, last4, err == nil && n == len(hash)
}

// envName is what names of environment variables look like.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckSecretRef tells what is wrong with the form of a secret reference. Its
// messages never repeat the text: it may be the secret.
func CheckSecretRef(ref string) error {
	if IsSealedSecret(ref) {
		return nil
	}
	if name, ok := strings.CutPrefix(ref, "env:"); ok {
		if !envName.MatchString(name) {
			return errors.New("env: must be followed by the name of an environment variable (letters, digits and _), such as env:PROVIDER_KEY")
		}
		return nil
	}
	if path, ok := strings.CutPrefix(ref, "file:"); ok {
		if strings.TrimSpace(path) == "" || strings.Contains(path, "\x00") {
			return errors.New("file: must be followed by a path, such as file:/run/secrets/provider_key")
		}
		return nil
	}
	lower := strings.ToLower(strings.TrimSpace(ref))
	switch {
	case strings.HasPrefix(lower, "env:"), strings.HasPrefix(lower, "env :"),
		strings.HasPrefix(lower, "file:"), strings.HasPrefix(lower, "file :"):
		return errors.New("write env:NAME or file:PATH in lower case and without spaces before it")
	case strings.Contains(ref, "${"), strings.HasPrefix(ref, "$"):
		return errors.New("$NAME and ${NAME} are not expanded; write env:NAME")
	case strings.Trim(ref, "*•") == "":
		return errors.New("this is the mask that is shown in place of a secret, not a secret")
	}
	return CheckSecretText(ref)
}

// IsLiteralSecret tells a secret that is written out, not referred to or
// sealed.
func IsLiteralSecret(ref string) bool {
	return ref != "" && !IsSealedSecret(ref) && !strings.HasPrefix(ref, "env:") && !strings.HasPrefix(ref, "file:")
}

// CheckSecretText tells what is wrong with the text of a key or token that
// has to fit in an HTTP header.
func CheckSecretText(value string) error {
	for i := range len(value) {
		if b := value[i]; b <= ' ' || b > '~' {
			return errors.New("the secret has a space, a line break or a character outside ASCII; check what was copied")
		}
	}
	return nil
}

// minKeySecret is the least length of an Interlock key that somebody chose.
const minKeySecret = 24

// CheckKeySecret tells what is wrong with the value of a Key's secret.
func CheckKeySecret(value string) error {
	if err := CheckSecretText(value); err != nil {
		return err
	}
	if !strings.HasPrefix(value, "ilk_") {
		return errors.New("the secret of a key must begin with ilk_")
	}
	if len(value) < minKeySecret {
		return fmt.Errorf("the secret of a key must have at least %d characters; it has %d", minKeySecret, len(value))
	}
	return nil
}
