package resource_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/resource"
)

func key(change func(*resource.Key)) *resource.Key {
	k := &resource.Key{Meta: meta("Key", "k"), Type: "service", Secret: "env:K"}
	change(k)
	return k
}

func TestKeyCheck(t *testing.T) {
	type K = resource.Key
	runChecks(t, []checkCase{
		{"takes the usual", key(func(k *K) {
			k.Owner, k.Team, k.Labels = &resource.KeyOwner{User: "anna@example.se"}, "Platform & tools", map[string]string{"repo": "x/y", "empty": ""}
		}), nil},
		{"needs a type", key(func(k *K) { k.Type = "" }), [][2]string{{"type", "missing"}}},
		{"refuses an unknown type", key(func(k *K) { k.Type = "robot" }), [][2]string{{"type", "pat, virtual, service or session"}}},
		{"wants one owner", key(func(k *K) { k.Owner = &resource.KeyOwner{User: "a", Team: "b"} }), [][2]string{{"owner", "here are 2"}}},
		{"wants an owner that is somebody", key(func(k *K) { k.Owner = &resource.KeyOwner{} }), [][2]string{{"owner", "here are 0"}}},
		{"refuses odd names", key(func(k *K) { k.Team, k.Agent = strings.Repeat("x", 121), "a\nb" }), [][2]string{{"team", "121 characters"}, {"agent", "U+000A"}}},
		{"refuses odd labels", key(func(k *K) { k.Labels = map[string]string{"Source": "x", "a=b": "x", "v": "\x00"} }), [][2]string{
			{"labels.Source", "set by the gateway"}, {`labels["a=b"]`, "has a ="}, {"labels.v", "U+0000"},
		}},
		{"refuses bad ceilings", key(func(k *K) {
			k.AllowedModels, k.AllowedProviders, k.AllowedResidencies = []string{"a*b"}, []string{"A"}, []string{"eu", "eu"}
			k.PII, k.RateLimits = "hide", &resource.RateLimits{RequestsPerMinute: new(0), Concurrent: new(-1)}
		}), [][2]string{
			{"allowedModels[0]", "inside"},
			{"allowedProviders[0]", "is no name"},
			{"allowedResidencies[1]", "repeats"},
			{"pii", "off, allow, redact"},
			{"rateLimits.requestsPerMinute", "or remove it for no limit"},
			{"rateLimits.concurrent", "-1"},
		}},
		{"takes a literal secret of the right form", key(func(k *K) { k.Secret = "ilk_01234567890123456789" }), nil},
		{"refuses a short literal", key(func(k *K) { k.Secret = "ilk_0123" }), [][2]string{{"secret", "at least 24 characters; it has 8"}}},
		{"refuses a literal of another form", key(func(k *K) { k.Secret = "01234567890123456789abcdef" }), [][2]string{{"secret", "begin with ilk_"}}},
		{"refuses a variable that is not expanded", key(func(k *K) { k.Secret = "${K}" }), [][2]string{{"secret", "not expanded"}}},
		{"keeps provider credentials to virtual keys", key(func(k *K) { k.ProviderCredential = &resource.ProviderCredential{} }), [][2]string{
			{"providerCredential", "virtual keys"}, {"providerCredential.provider", "missing"},
		}},
		{"takes one of a virtual key", key(func(k *K) {
			k.Type, k.ProviderCredential = "virtual", &resource.ProviderCredential{Provider: "a", APIKey: "file:/run/k"}
		}), nil},
	})
}

// RS-KEY-1: the stored form of a written secret is read back, and nothing else
// is taken for it.
func TestRS_KEY_1_hashed_secrets(t *testing.T) {
	sum := sha256.Sum256([]byte("ilk_01234567890123456789"))
	stored := resource.HashedSecret(sum, "6789")
	if hash, last4, ok := resource.SecretHash(stored); !ok || hash != sum || last4 != "6789" || !resource.IsSealedSecret(stored) || resource.IsLiteralSecret(stored) {
		t.Errorf("%s: %x %q %t", stored, hash, last4, ok)
	}
	for _, other := range []string{"", "env:K", "sealed:v1:abcd:AAAA", "ilk_01234567890123456789", "hashed:sha256:", stored[:40], "hashed:sha256:" + strings.Repeat("zz", 32) + ":6789"} {
		if _, _, ok := resource.SecretHash(other); ok {
			t.Errorf("%q is taken for a hash", other)
		}
	}
}
