package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// newTransport makes the provider's own connection pool, so that a provider
// that swallows connections holds up nobody else.
func newTransport(o Options, base string, connect time.Duration) (*http.Transport, error) {
	p := o.Provider
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if p.CAFile != "" {
		pem, err := o.ReadFile(p.CAFile)
		if err != nil {
			return nil, &FieldError{"caFile", fmt.Sprintf("the file %s can't be read", p.CAFile)}
		}
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &FieldError{"caFile", fmt.Sprintf("the file %s holds no certificate in PEM form", p.CAFile)}
		}
	}
	proxy, direct := http.ProxyFromEnvironment, false
	if p.ProxyURL != "" {
		u, err := url.Parse(p.ProxyURL)
		if err != nil || u.Host == "" {
			return nil, &FieldError{"proxyUrl", "it is not a URL such as http://proxy.example:3128"}
		}
		proxy = http.ProxyURL(u)
	} else {
		direct = true
	}
	guard := dialGuard{plain: strings.HasPrefix(strings.ToLower(base), "http://") && !p.AllowInsecure && direct}
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second, Control: guard.control}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: connect,
		ForceAttemptHTTP2:   p.HTTP2,
		MaxIdleConnsPerHost: 4096,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // bytes pass as they are; decodeBody undoes what was not asked for
		WriteBufferSize:     16 << 10,
		ReadBufferSize:      16 << 10,
	}, nil
}

// dialGuard refuses addresses that a provider URL must not lead to, after the
// name was resolved: a name can point anywhere and change at any time.
type dialGuard struct {
	// plain: the connection is http without TLS, which is for loopback and
	// private addresses only.
	plain bool
}

func (g dialGuard) control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: not an IP address", address)
	}
	if err := resource.CheckAddr(ap.Addr(), g.plain); err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	return nil
}
