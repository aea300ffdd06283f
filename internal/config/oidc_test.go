package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/config"
)

// OP-10: settings of sign-ins that can't work are refused, each at its place.
func TestOP_10_oidc_settings(t *testing.T) {
	for _, tc := range []struct{ name, text, at, says string }{
		{"off", "auth: {oidc: {issuer: ''}}", "", ""},
		{"all of it", "auth: {oidc: {issuer: 'https://id.example', clientId: x, clientSecret: env:S, roleClaim: realm.roles, adminValues: [a], viewerValues: [b]}}", "", ""},
		{"a public client of viewers", "auth: {oidc: {issuer: 'http://127.0.0.1:9', clientId: x, viewerValues: [b]}}", "", ""},
		{"no client", "auth: {oidc: {issuer: 'https://id.example', adminValues: [a]}}", "auth.oidc.clientId", "register the gateway"},
		{"nobody", "auth: {oidc: {issuer: 'https://id.example', clientId: x}}", "auth.oidc.adminValues", "nobody could sign in"},
		{"no issuer", "auth: {oidc: {clientId: x}}", "auth.oidc.clientId", "auth.oidc.issuer"},
		{"a role twice", "auth: {oidc: {issuer: 'https://id.example', clientId: x, adminValues: [a], viewerValues: [b, a]}}", "auth.oidc.viewerValues[1]", "twice"},
		{"no claim", "auth: {oidc: {issuer: 'https://id.example', clientId: x, roleClaim: '', adminValues: [a]}}", "auth.oidc.roleClaim", ""},
		{"an empty value", "auth: {oidc: {issuer: 'https://id.example', clientId: x, adminValues: ['']}}", "auth.oidc.adminValues[0]", ""},
		{"a secret in the file", "auth: {oidc: {issuer: 'https://id.example', clientId: x, clientSecret: hunter2hunter2, adminValues: [a]}}", "auth.oidc.clientSecret", "env:NAME"},
		{"one address twice", "server: {listen: '127.0.0.1:9000', adminListen: '127.0.0.1:9000'}", "server.adminListen", "the same as server.listen"},
		{"two addresses", "server: {listen: '127.0.0.1:0', adminListen: '127.0.0.1:0'}", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "interlock.yaml")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := config.Load(config.Options{Path: path, LookupEnv: func(string) (string, bool) { return "the-secret", true }})
			switch {
			case tc.at == "" && err != nil:
				t.Error(err)
			case tc.at != "" && (err == nil || !strings.Contains(err.Error(), tc.at+": ") || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hunter2")):
				t.Errorf("%v", err)
			}
		})
	}
}
