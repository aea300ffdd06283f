package config

import (
	"github.com/interlock-gateway/interlock/internal/resource"
)

// maxRoleValue bounds a value that gives a role, in characters.
const maxRoleValue = 1024

// checkOIDC checks the sign-in of administrators. Who the issuer is, and whether
// it is there, is for the first sign-in.
func (l *loader) checkOIDC() {
	o := l.config.Auth.OIDC
	if o.ClientSecret != "" {
		l.checkReference("auth.oidc.clientSecret", o.ClientSecret)
	}
	if o.Issuer == "" {
		for _, f := range []struct {
			path string
			used bool
		}{
			{"auth.oidc.clientId", o.ClientID != ""},
			{"auth.oidc.clientSecret", o.ClientSecret != ""},
			{"auth.oidc.adminValues", len(o.AdminValues) > 0},
			{"auth.oidc.viewerValues", len(o.ViewerValues) > 0},
		} {
			if f.used {
				l.setting(resource.CodeInvalid, f.path, "it does nothing without auth.oidc.issuer; write the issuer's URL, or leave this out")
			}
		}
		return
	}
	if o.ClientID == "" {
		l.setting(resource.CodeInvalid, "auth.oidc.clientId", "the client is missing; register the gateway at the issuer and write the id that it gives")
	}
	l.invalid("auth.oidc.roleClaim", resource.CheckText(o.RoleClaim, maxClaim))
	if len(o.AdminValues) == 0 && len(o.ViewerValues) == 0 {
		l.setting(resource.CodeInvalid, "auth.oidc.adminValues", "neither this nor auth.oidc.viewerValues has a value, so nobody could sign in; write the values of the claim %q that make an administrator", o.RoleClaim)
	}
	seen := map[string]bool{}
	for _, list := range []struct {
		path   string
		values []string
	}{{"auth.oidc.adminValues", o.AdminValues}, {"auth.oidc.viewerValues", o.ViewerValues}} {
		for i, v := range list.values {
			at := resource.IndexPath(list.path, i)
			l.invalid(at, resource.CheckText(v, maxRoleValue))
			if seen[v] {
				l.setting(resource.CodeInvalid, at, "the value %q is there twice", shortened(v))
			}
			seen[v] = true
		}
	}
}
