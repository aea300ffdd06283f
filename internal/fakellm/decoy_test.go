package fakellm

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"testing"
)

func TestDNSAnswersEveryNameWithLoopback(t *testing.T) {
	f := start(t)
	addr, err := f.StartDNS("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", addr.String())
	}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	addrs, err := r.LookupHost(ctx, "api.openai.com.")
	if err != nil || !slices.Equal(addrs, []string{"127.0.0.1"}) {
		t.Errorf("got %v, %v", addrs, err)
	}
	if !slices.ContainsFunc(f.Notes(), func(n string) bool { return hasTail(n, "dns 1 api.openai.com.") }) {
		t.Errorf("notes %q", f.Notes())
	}
	for _, broken := range []string{"", "short", "\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xffabcdefgh"} {
		if _, _, _, ok := dnsAnswer([]byte(broken)); ok {
			t.Errorf("answered %q", broken)
		}
	}
}

func TestSNIIsNotedAndRefused(t *testing.T) {
	f := start(t)
	addr, err := f.StartSNI("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &tls.Dialer{Config: &tls.Config{ServerName: "api.anthropic.com", MinVersion: tls.VersionTLS12}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if conn, err := d.DialContext(ctx, "tcp", addr.String()); err == nil {
		t.Error("the handshake went through")
		_ = conn.Close()
	}
	if n := f.Notes(); len(n) != 1 || !hasTail(n[0], "tls api.anthropic.com alpn=[]") {
		t.Errorf("notes %q", n)
	}
	// A client that says nothing must not hold up Close.
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr.String()); err != nil {
		t.Error(err)
	}
}

func hasTail(s, tail string) bool { return len(s) > len(tail) && s[len(s)-len(tail):] == tail }
