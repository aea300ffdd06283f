package config

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// hostName is what a host of a listener looks like, if it is no address.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`)

// checkSettings checks the limits of every setting, whoever gave it.
func (l *loader) checkSettings() {
	l.checkNumbers()
	l.checkChoices()
	l.checkAddresses()
	l.checkAuth()
}

func (l *loader) checkNumbers() {
	c := l.config
	const day = 86_400
	for _, n := range []struct {
		path   string
		value  int64
		lo, hi int64
		unit   string
	}{
		{"server.maxBodyBytes", c.Server.MaxBodyBytes, 1, 1 << 30, " bytes"},
		{"server.maxInFlight", int64(c.Server.MaxInFlight), 1, 1_000_000, " requests"},
		{"server.drainSeconds", int64(c.Server.DrainSeconds), 0, day, " seconds"},
		{"llmProxy.circuitBreaker.failureThreshold", int64(c.LLMProxy.CircuitBreaker.FailureThreshold), 1, 1_000, " failures"},
		{"llmProxy.circuitBreaker.cooldownSeconds", int64(c.LLMProxy.CircuitBreaker.CooldownSeconds), 1, day, " seconds"},
		{"llmProxy.circuitBreaker.maxRetryAfterSeconds", int64(c.LLMProxy.CircuitBreaker.MaxRetryAfterSeconds), 0, 3_600, " seconds"},
		{"llmProxy.retry.maxRetries", int64(c.LLMProxy.Retry.MaxRetries), 0, 3, ""},
		{"llmProxy.retry.baseDelayMs", int64(c.LLMProxy.Retry.BaseDelayMs), 0, 60_000, " milliseconds"},
		{"llmProxy.retry.maxElapsedMs", int64(c.LLMProxy.Retry.MaxElapsedMs), 1, day * 1_000, " milliseconds"},
		{"llmProxy.sessionPinTTLSeconds", int64(c.LLMProxy.SessionPinTTLSeconds), 1, 30 * day, " seconds"},
		{"audit.retentionDays", int64(c.Audit.RetentionDays), 1, 36_500, " days"},
	} {
		if n.value < n.lo || n.value > n.hi {
			l.setting(resource.CodeInvalid, n.path, "expected %d to %d%s, found %d", n.lo, n.hi, n.unit, n.value)
		}
	}
	if d := c.LLMProxy.DenialStatus; d != 400 && d != 402 && d != 451 {
		l.setting(resource.CodeInvalid, "llmProxy.denialStatus", "expected 400, 402 or 451, found %d", d)
	}
}

func (l *loader) checkChoices() {
	c := l.config
	for _, e := range []struct {
		path, value string
		allowed     []string
	}{
		{"sharedState.onFailure", c.SharedState.OnFailure, []string{"allow", "deny"}},
		{"llmProxy.exposeRoutingHeaders", c.LLMProxy.ExposeRoutingHeaders, []string{"all", "id-only"}},
		{"llmProxy.responsesFailover", c.LLMProxy.ResponsesFailover, []string{"free", "never"}},
		{"llmProxy.ruleBalancing", c.LLMProxy.RuleBalancing, []string{"weighted", "least-loaded"}},
		{"llmProxy.legacyPredicates", c.LLMProxy.LegacyPredicates, []string{"rules", "drop"}},
		{"resources.mode", c.Resources.Mode, []string{"seed", "enforce"}},
		{"telemetry.logLevel", c.Telemetry.LogLevel, []string{"debug", "info", "warn", "error"}},
		{"telemetry.logFormat", c.Telemetry.LogFormat, []string{"json", "text"}},
	} {
		if !slices.Contains(e.allowed, e.value) {
			last := len(e.allowed) - 1
			l.setting(resource.CodeInvalid, e.path, "expected %s or %s, found %q",
				strings.Join(e.allowed[:last], ", "), e.allowed[last], shortened(e.value))
		}
	}
}

func (l *loader) checkAddresses() {
	c := l.config
	l.invalid("server.listen", checkListen(c.Server.Listen))
	if c.Server.AdminListen != "" {
		l.invalid("server.adminListen", checkListen(c.Server.AdminListen))
		if _, port, err := net.SplitHostPort(c.Server.AdminListen); err == nil && c.Server.AdminListen == c.Server.Listen && port != "0" {
			l.setting(resource.CodeInvalid, "server.adminListen", "it is the same as server.listen; choose another port, or leave it out to have both on one")
		}
	}
	for _, u := range []struct{ path, value string }{
		{"server.publicUrl", c.Server.PublicURL},
		{"approvals.webhookUrl", c.Approvals.WebhookURL},
		{"telemetry.otlpEndpoint", c.Telemetry.OTLPEndpoint},
		{"auth.oidc.issuer", c.Auth.OIDC.Issuer},
	} {
		if u.value != "" {
			l.invalid(u.path, resource.CheckEndpointURL(u.value))
		}
	}
	// The URLs may hold passwords: they are not repeated.
	if !hasPrefix(c.Storage.URL, "sqlite:", "postgres://", "postgresql://") {
		l.setting(resource.CodeInvalid, "storage.url", "expected sqlite:PATH or postgres://user@host/db")
	}
	if c.Storage.DataDir == "" {
		l.setting(resource.CodeInvalid, "storage.dataDir", "expected a folder, found an empty text")
	}
	if c.SharedState.URL != "memory:" && !hasPrefix(c.SharedState.URL, "redis://", "rediss://") {
		l.setting(resource.CodeInvalid, "sharedState.url", "expected memory: or redis://host:port/db")
	}
}

// hasPrefix tells whether there is something after one of the prefixes.
func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) && len(s) > len(p) })
}

// invalid notes err, if there is one.
func (l *loader) invalid(path string, err error) {
	if err != nil {
		l.setting(resource.CodeInvalid, path, "%s", err.Error())
	}
}

// checkListen tells what is wrong with the address of a listener.
func checkListen(addr string) error {
	const want = "expected host:port such as 127.0.0.1:8080"
	host, port, err := net.SplitHostPort(addr)
	switch {
	case err != nil && addr != "" && strings.Trim(addr, "0123456789") == "":
		return fmt.Errorf("%s, found only a port; write 127.0.0.1:%s, or :%s to be reached from other machines", want, addr, addr)
	case err != nil && strings.Contains(addr, "://"):
		return fmt.Errorf("%s, found a URL; leave out what is before and after the host and the port", want)
	case err != nil && strings.Count(addr, ":") > 1 && !strings.Contains(addr, "["):
		return fmt.Errorf("%s, found %q; put an IPv6 address in brackets, as in [::1]:8080", want, shortened(addr))
	case err != nil:
		return fmt.Errorf("%s, found %q", want, shortened(addr))
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 || port[0] == '+' {
		return fmt.Errorf("expected a port of 0 to 65535, found %q", shortened(port))
	}
	if host == "" {
		return nil
	}
	if _, err := netip.ParseAddr(host); err != nil && (addr[0] == '[' || !hostName.MatchString(host)) {
		return fmt.Errorf("expected a host name or an IP address before the port, found %q", shortened(host))
	}
	return nil
}

func (l *loader) checkAuth() {
	a := l.config.Auth
	for i, ref := range a.AdminTokens {
		l.checkReference(resource.IndexPath("auth.adminTokens", i), ref)
	}
	l.checkOIDC()
	l.checkIssuers()
}

// checkReference wants a reference: unlike a provider's key, a secret of the
// process is not stored encrypted, so it does not belong in the file.
func (l *loader) checkReference(path, ref string) {
	switch {
	case ref == "":
		l.setting(resource.CodeInvalid, path, "the secret is empty; write env:NAME or file:PATH")
	case resource.IsLiteralSecret(ref) && resource.CheckSecretRef(ref) == nil:
		l.setting(resource.CodeInvalid, path, "a secret does not belong in the configuration itself; write env:NAME or file:PATH")
	default:
		l.invalid(path, resource.CheckSecretRef(ref))
	}
}
