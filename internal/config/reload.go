package config

import (
	"reflect"
	"slices"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
)

// reloadable are the settings that SIGHUP changes in a running process.
func reloadable() []string {
	return []string{"llmProxy", "resources", "auth.adminTokens", "telemetry.logLevel"}
}

// NeedsRestart lists the settings that differ between two configurations and
// that a reload does not change.
func NeedsRestart(old, next *Config) []string {
	var paths []string
	for _, path := range yamldoc.Paths(reflect.TypeFor[Config]()) {
		live := slices.ContainsFunc(reloadable(), func(r string) bool { return yamldoc.Within(path, r) })
		if !live && !same(lookUp(old, path), lookUp(next, path)) {
			paths = append(paths, path)
		}
	}
	return paths
}
