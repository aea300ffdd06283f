package resource

import (
	"strings"
	"unicode"
)

// LooksSecret tells names of models that are keys, as they are or behind a
// scheme or a vendor's name: a client that mixes up its settings must not have
// its key shown, stored or sent on.
func LooksSecret(model string) bool {
	if strings.HasPrefix(model, "sk-") { // some vendors have an sk- behind their name
		return true
	}
	for part := range strings.FieldsFuncSeq(model, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`:,;=/", r) }) {
		if strings.HasPrefix(part, "eyJ") && strings.Count(part, ".") >= 2 { // a JWT
			return true
		}
		for _, start := range [...]string{"ilk_", "sess_", "AIza", "sk-ant-", "sk-proj-"} {
			if strings.HasPrefix(part, start) {
				return true
			}
		}
	}
	return false
}
