package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/interlock-gateway/interlock/internal/h1"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// transport is how a provider is reached: exactly one of its fields is set.
type transport struct {
	direct *h1.Pool
	std    *http.Transport
}

func (t *transport) closeIdle() {
	if t.direct != nil {
		t.direct.CloseIdle()
		return
	}
	t.std.CloseIdleConnections()
}

// newTransport makes the provider's own connection pool, so that a provider
// that swallows connections holds up nobody else. net/http's serves where there
// is a proxy or HTTP/2 on the way.
func newTransport(o Options, base *url.URL, connect time.Duration) (t transport, err error) {
	p := o.Provider
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if p.CAFile != "" {
		pem, err := o.ReadFile(p.CAFile)
		if err != nil {
			return t, &FieldError{"caFile", fmt.Sprintf("the file %s can't be read", p.CAFile)}
		}
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(pem) {
			return t, &FieldError{"caFile", fmt.Sprintf("the file %s holds no certificate in PEM form", p.CAFile)}
		}
	}
	proxy, direct := http.ProxyFromEnvironment, false
	if p.ProxyURL != "" {
		u, err := url.Parse(p.ProxyURL)
		if err != nil || u.Host == "" {
			return t, &FieldError{"proxyUrl", "it is not a URL such as http://proxy.example:3128"}
		}
		proxy = http.ProxyURL(u)
	} else {
		direct = true
	}
	guard := dialGuard{plain: base.Scheme == "http" && !p.AllowInsecure && direct}
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second, Control: guard.control}
	if via, err := proxy(&http.Request{URL: base}); err == nil && via == nil && !p.HTTP2 && ascii(base.Host) {
		t.direct = &h1.Pool{Dial: dial(dialer, base, tlsConfig, connect)}
		return t, nil
	}
	t.std = &http.Transport{
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
	}
	return t, nil
}

// ascii tells whether a host needs no encoding to be dialled.
func ascii(host string) bool {
	for i := range len(host) {
		if host[i] >= 0x80 || host[i] == '%' {
			return false
		}
	}
	return true
}

// dial opens connections to the host of base.
func dial(d *net.Dialer, base *url.URL, config *tls.Config, connect time.Duration) func(context.Context) (net.Conn, error) {
	host, port := base.Hostname(), base.Port()
	secure := base.Scheme == "https"
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[secure]
	}
	address := net.JoinHostPort(host, port)
	if !secure {
		return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) }
	}
	config = config.Clone()
	config.ServerName = host
	return func(ctx context.Context) (net.Conn, error) {
		c, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		if connect > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, connect)
			defer cancel()
		}
		t := tls.Client(c, config)
		if err := t.HandshakeContext(ctx); err != nil {
			_ = c.Close() // the handshake's error says what happened
			return nil, fmt.Errorf("TLS with %s: %w", host, err)
		}
		return t, nil
	}
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
