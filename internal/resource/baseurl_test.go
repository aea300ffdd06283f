package resource_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/resource"
)

func TestCheckBaseURL(t *testing.T) {
	good := []struct {
		url      string
		insecure bool
	}{
		{"https://api.anthropic.com", false},
		{"https://api.example:8443/v1/", false},
		{"HTTPS://API.EXAMPLE", false},
		{"https://8.8.8.8/v1", false},
		{"https://[2001:4860:4860::8888]/v1", false},
		{"http://127.0.0.1:11434", false},
		{"http://127.9.9.9", false},
		{"http://localhost:8000/v1", false},
		{"http://[::1]:8000", false},
		{"http://10.0.0.5", false},
		{"http://172.31.255.255", false},
		{"http://192.168.1.1", false},
		{"http://[fd12:3456::1]", false},
		{"http://[::ffff:10.0.0.1]", false},
		{"http://ollama:11434", false}, // its addresses are checked when it is dialled
		{"http://llm.internal", false},
		{"http://8.8.8.8", true},
		{"http://host_with_underscore", false},
	}
	for _, c := range good {
		t.Run("RS-PROV-5 takes "+c.url, func(t *testing.T) {
			if err := resource.CheckBaseURL(c.url, c.insecure); err != nil {
				t.Error(err)
			}
		})
	}
	bad := []struct{ url, say string }{
		{"api.example", "no scheme"},
		{"//api.example", "no scheme"},
		{"ftp://api.example", "scheme"},
		{"https:api.example", "no host"},
		{"https:///v1", "no host"},
		{"https://", "no host"},
		{"https://user:pass@api.example", "user name or password"},
		{"https://api.example?x=1", "query"},
		{"https://api.example?", "query"},
		{"https://api.example#x", "fragment"},
		{"https://api.example#", "fragment"},
		{" https://api.example", "space"},
		{"https://api.example\n", "space"},
		{"https://api .example", "no URL"},
		{"https://api.example:0", "port"},
		{"https://api.example:65536", "port"},
		{"https://api.example:", "port"},
		{"https://api..example", "empty or overlong"},
		{"https://bücher.example", "ASCII"},
		{"https://a,b", "character"},
		{"https://" + strings.Repeat("a.", 130) + "a", "253"},
		{"http://8.8.8.8", "use https"},
		{"http://[2001:4860:4860::8888]", "use https"},
		{"http://100.64.0.1", "use https"},
		// RS-PROV-5: link-local and metadata addresses, however they are spelt.
		{"https://169.254.169.254", "link-local"},
		{"http://169.254.169.254/latest", "link-local"},
		{"https://169.254.0.1", "link-local"},
		{"https://[fe80::1]", "link-local"},
		{"https://[fe80::1%25eth0]", "link-local"},
		{"https://[febf::1]", "link-local"},
		{"https://[fd00:ec2::254]", "metadata"},
		{"https://[fd00:0ec2:0:0:0:0:0:0254]", "metadata"},
		{"https://[fd20:ce::254]", "metadata"},
		{"https://[::ffff:169.254.169.254]", "link-local"},
		{"https://[::ffff:a9fe:a9fe]", "link-local"},
		{"https://[::a9fe:a9fe]", "link-local"},
		{"https://[64:ff9b::a9fe:a9fe]", "link-local"},
		{"https://[64:ff9b:1::169.254.169.254]", "link-local"},
		{"https://[2002:a9fe:a9fe::1]", "link-local"},
		{"https://2852039166", "link-local"},
		{"https://0xa9fea9fe", "link-local"},
		{"https://0xA9.0xFE.0xA9.0xFE", "link-local"},
		{"https://0251.0376.0251.0376", "link-local"},
		{"https://025177524776", "link-local"},
		{"https://169.254.43518", "link-local"},
		{"https://169.16689662", "link-local"},
		{"https://169.254.169.0xfe", "link-local"},
		{"https://169.254.169.254.", "link-local"},
		{"https://169.254.169.00254", "link-local"},
		{"https://127.1", "unusual spelling of an IPv4 address; write 127.0.0.1"},
		{"https://0", "unspecified"},
		{"https://0.0.0.0", "unspecified"},
		{"https://[::]", "unspecified"},
		{"https://255.255.255.255", "broadcast"},
		{"https://224.0.0.1", "multicast"},
		{"https://1.2.3.4.5", "neither a name nor an IPv4"},
		{"https://256.1.1.1", "neither a name nor an IPv4"},
		{"https://example.1", "neither a name nor an IPv4"},
		{"https://100.100.100.200", "metadata"},
		{"https://168.63.129.16", "metadata"},
		{"https://metadata.google.internal/x", "metadata"},
		{"https://METADATA.google.internal.", "metadata"},
		{"https://169。254。169。254", "ASCII"},
		{"https://１６９.254.169.254", "ASCII"},
		{"https://[fe80::1%eth0]", "no URL"},
		{"https://[::1", "no URL"},
	}
	for _, c := range bad {
		t.Run("RS-PROV-5 refuses "+c.url, func(t *testing.T) {
			err := resource.CheckBaseURL(c.url, false)
			if err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("got %v; want %q in it", err, c.say)
			}
			if strings.Contains(c.say, "link-local") && resource.CheckBaseURL(c.url, true) == nil {
				t.Error("allowInsecure lets it through")
			}
		})
	}
}

func TestCheckAddr(t *testing.T) {
	t.Run("RS-PROV-5 is the same at dial time", func(t *testing.T) {
		for addr, ok := range map[string]bool{
			"169.254.169.254": false, "::ffff:169.254.169.254": false, "fe80::1%eth0": false, "64:ff9b::a9fe:a9fe": false,
			"8.8.8.8": true, "127.0.0.1": true, "10.1.1.1": true, "::1": true, "fd00::1": true,
		} {
			if err := resource.CheckAddr(netip.MustParseAddr(addr), false); (err == nil) != ok {
				t.Errorf("CheckAddr(%s) = %v", addr, err)
			}
		}
	})
	t.Run("plain http stays local", func(t *testing.T) {
		for addr, ok := range map[string]bool{
			"8.8.8.8": false, "2001:4860::1": false, "127.0.0.1": true, "::1": true, "192.168.0.1": true, "fd00::1": true,
			"::ffff:10.0.0.1": true,
		} {
			if err := resource.CheckAddr(netip.MustParseAddr(addr), true); (err == nil) != ok {
				t.Errorf("CheckAddr(%s) = %v", addr, err)
			}
		}
	})
}

// FuzzCheckBaseURL looks for a spelling of a metadata address that passes.
func FuzzCheckBaseURL(f *testing.F) {
	for _, h := range []string{"169.254.169.254", "0xa9fea9fe", "[::ffff:a9fe:a9fe]", "2852039166", "a.example", "[fe80::1%25x]", "1.1"} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if resource.CheckBaseURL("https://"+host, true) != nil {
			return
		}
		bare := strings.Trim(host, "[]")
		if ip, err := netip.ParseAddr(bare); err == nil && ip.Unmap().IsLinkLocalUnicast() {
			t.Errorf("accepted %q", host)
		}
	})
}
