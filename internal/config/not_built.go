package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// unbuilt is a setting, or a section of them, whose part this version does not
// have.
type unbuilt struct{ path, reason string }

// notBuilt are the settings that are known and checked but do nothing yet: any
// value but the default is refused, because whoever wrote it relies on it. A
// step that builds a part deletes its line.
func notBuilt() []unbuilt {
	return []unbuilt{
		{"sharedState", "this version runs as one process, without shared state"},
		{"llmProxy.sessionPinTTLSeconds", "this version does not pin sessions"},
		{"llmProxy.denialStatus", "this version denies no models"},
		{"llmProxy.ruleBalancing", "this version has no routing rules"},
		{"llmProxy.legacyPredicates", "this version does not read the older configuration"},
		{"llmProxy.upstreams", "this version does not read the older configuration"},
		{"llmProxy.pools", "this version does not read the older configuration"},
		{"llmProxy.routes", "this version does not read the older configuration"},
		{"llmProxy.providers", "this version does not read the older configuration"},
		{"audit.recordFacts", "this version always records what a decision read"},
		{"approvals", "this version has no approvals"},
		{"telemetry.otlpEndpoint", "this version exports no traces"},
		{"licensing", "this version has no licensing"},
	}
}

// checkNotBuilt refuses what this version would ignore. A value that is wrong in
// itself has its problem already.
func (l *loader) checkNotBuilt() {
	defaults := Default()
	for _, u := range notBuilt() {
		for _, path := range leaves(u.path) {
			have, want := lookUp(l.config, path), lookUp(defaults, path)
			if !same(have, want) && !l.reported(path) {
				l.setting(resource.CodeNotBuilt, path, "%s; %s", u.reason, accepted(want))
			}
		}
	}
	if !strings.HasPrefix(l.config.Storage.URL, "sqlite:") && !l.reported("storage.url") {
		l.setting(resource.CodeNotBuilt, "storage.url", "PostgreSQL is not part of this version yet; use sqlite:PATH")
	}
}

// reported tells whether there is a problem at or inside a setting.
func (l *loader) reported(path string) bool {
	return slices.ContainsFunc(l.problems, func(p resource.Problem) bool { return yamldoc.Within(p.Path, path) })
}

// leaves gives the settings of a section, or the setting itself.
func leaves(path string) []string {
	v := lookUp(Default(), path)
	if v.Kind() != reflect.Struct {
		return []string{path}
	}
	paths := yamldoc.Paths(v.Type())
	for i := range paths {
		paths[i] = path + "." + paths[i]
	}
	return paths
}

// same compares settings; a list without entries is one that is not there.
func same(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// accepted says which value is.
func accepted(want reflect.Value) string {
	switch {
	case want.Kind() == reflect.Slice, want.IsZero() && want.Kind() == reflect.String:
		return "leave it out"
	case want.Kind() == reflect.String:
		return fmt.Sprintf("only the default %q is accepted", want.String())
	}
	return fmt.Sprintf("only the default %v is accepted", want.Interface())
}
