package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// Limits of auth.trustedIssuers.
const (
	maxClaim = 256 // characters of a claim's name or path
	maxLabel = 63  // characters of a label's name, as in keys
)

// sources are what callers are that have no token: an issuer of that name
// would make its callers look like them.
func sources() []string { return []string{"pat", "virtual", "service", "session", "passthrough"} }

func (l *loader) checkIssuers() {
	names, urls := map[string]string{}, map[string]string{}
	for i, t := range l.config.Auth.TrustedIssuers {
		at := resource.IndexPath("auth.trustedIssuers", i)
		l.invalid(at+".name", resource.CheckName(t.Name))
		if slices.Contains(sources(), t.Name) {
			l.setting(resource.CodeInvalid, at+".name", "%q is the source of callers without a token; choose another name", t.Name)
		}
		l.invalid(at+".issuer", resource.CheckEndpointURL(t.Issuer))
		if t.Audience == "" {
			l.setting(resource.CodeInvalid, at+".audience", "the audience is missing; a token for anybody else would be accepted")
		}
		for _, u := range []struct {
			field, value string
			seen         map[string]string
		}{{"name", t.Name, names}, {"issuer", t.Issuer, urls}} {
			if before, ok := u.seen[u.value]; ok && u.value != "" {
				l.setting(resource.CodeInvalid, at+"."+u.field, "the %s is that of %s; it has to be unique", u.field, before)
			}
			u.seen[u.value] = at
		}
		for _, claim := range slices.Sorted(maps.Keys(t.Require)) {
			path := resource.JoinPath(at+".require", claim)
			if err := resource.CheckText(claim, maxClaim); err != nil {
				l.setting(resource.CodeInvalid, path, "the claim's name %s", err)
			} else if t.Require[claim] == "" {
				l.setting(resource.CodeInvalid, path, "the value is missing; write the one that the claim must have")
			}
		}
		l.checkClaims(at+".claims", &t.Claims)
	}
}

// checkClaims checks names only: which claims an issuer's tokens have is known
// when the first one comes.
func (l *loader) checkClaims(at string, c *Claims) {
	for _, f := range []struct{ field, claim string }{
		{"user", c.User}, {"groups", c.Groups}, {"agent", c.Agent}, {"workload", c.Workload}, {"namespace", c.Namespace}, {"serviceAccount", c.ServiceAccount},
	} {
		if f.claim != "" {
			l.invalid(at+"."+f.field, resource.CheckText(f.claim, maxClaim))
		}
	}
	for _, label := range slices.Sorted(maps.Keys(c.Labels)) {
		path := resource.JoinPath(at+".labels", label)
		switch err := resource.CheckText(label, maxLabel); {
		case err != nil:
			l.setting(resource.CodeInvalid, path, "the label's name %s", err)
		case strings.Contains(label, "="):
			l.setting(resource.CodeInvalid, path, "the label's name has a =; subjects write labels as name=value")
		case strings.EqualFold(label, "source"):
			l.setting(resource.CodeInvalid, path, "the label source is set by the gateway; choose another name")
		case c.Labels[label] == "":
			l.setting(resource.CodeInvalid, path, "the claim is missing; write the name of the claim that gives the label")
		default:
			l.invalid(path, resource.CheckText(c.Labels[label], maxClaim))
		}
	}
}
