package resource_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/interlock-gateway/interlock/internal/resource"
)

func TestCheckPattern(t *testing.T) {
	good := []string{
		"*", "claude-*", "*-mini", "*gpt-4*", "claude-opus-4-1", "anthropic/*", "*a", "a*", "Claude-*", "åäö-*",
		"us.anthropic.claude-3:0", "model with space", "a?b", "[x]", strings.Repeat("å", 256),
	}
	for _, p := range good {
		t.Run("RT-PAT-3 takes "+p[:min(len(p), 20)], func(t *testing.T) {
			if err := resource.CheckPattern(p); err != nil {
				t.Errorf("CheckPattern(%q) = %v", p, err)
			}
		})
	}
	bad := []struct{ pattern, say string }{
		{"", "is empty"},
		{"claude-*-mini", `write "claude-*" or "*-mini"`},
		{"*.anthropic.*.x", `write "*.anthropic.*" or "*.x"`},
		{"a*b*", `write "a*" or "*b*"`},
		{"*a*b", `write "*a*" or "*b"`},
		{"*a*b*", `write "*a*" or "*b*"`},
		{"a**", `write "a*"`},
		{"**a", `write "*a"`},
		{"a*b*c", `write "a*" or "*c"`},
		{"**", `write "*"`},
		{"***", "only at the start"},
		{"claude-* ", "space"},
		{" claude", "space"},
		{"a\nb", "U+000A at place 2"},
		{"a\x00", "U+0000"},
		{"a\u200bb", "U+200B"},
		{"a\xffb", "UTF-8"},
		{strings.Repeat("a", 257), "257 characters; at most 256"},
	}
	for _, c := range bad {
		t.Run("RT-PAT-3 refuses "+c.say, func(t *testing.T) {
			err := resource.CheckPattern(c.pattern)
			if err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("CheckPattern(%q) = %v; want %q in it", c.pattern, err, c.say)
			}
		})
	}
}

func FuzzCheckPattern(f *testing.F) {
	for _, p := range []string{
		"", "*", "**", "***", "claude-*", "*-mini", "*gpt*", "a*b", "a*b*", "*a*b*c*", " a", "a\x00", "\xff", "å*", "*\u202e*",
	} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		err := resource.CheckPattern(p)
		if err != nil {
			// What the message offers must itself be a pattern.
			for _, offer := range strings.Split(err.Error(), "write ")[1:] {
				if err := checkOffer(offer); err != nil {
					t.Errorf("CheckPattern(%q) offers what it refuses: %v", p, err)
				}
			}
			return
		}
		n := utf8.RuneCountInString(p)
		if n < 1 || n > 256 || !utf8.ValidString(p) || strings.IndexFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Errorf("accepted %q", p)
		}
		literals := strings.TrimSuffix(strings.TrimPrefix(p, "*"), "*")
		if strings.Contains(literals, "*") || (literals == "" && p != "*") {
			t.Errorf("accepted %q, with a * inside", p)
		}
	})
}

// checkOffer checks the first quoted pattern of the rest of a message.
func checkOffer(rest string) error {
	if !strings.HasPrefix(rest, `"`) || strings.Contains(rest, "…") || strings.Contains(rest, `\`) {
		return nil
	}
	offer, _, _ := strings.Cut(rest[1:], `"`)
	return resource.CheckPattern(offer)
}
