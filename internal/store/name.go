package store

import (
	"slices"
	"strings"
)

// NameKey is what has to be unique among the current objects of a kind. Most
// names count exactly; names that people write as they please, of teams,
// departments, users and rules, are the same in upper and lower case. For models
// resource.NameKey is stricter: databases are older than that rule.
func NameKey(kind, name string) string {
	if slices.Contains([]string{"Team", "Department", "User", "RoutingRule"}, kind) {
		return strings.ToLower(name)
	}
	return name
}
