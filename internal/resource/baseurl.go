package resource

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// CheckBaseURL tells what is wrong with the URL of a provider, as far as the
// text shows: the addresses that a host name resolves to are checked again,
// with CheckAddr, when they are dialled (RS-PROV-5).
func CheckBaseURL(raw string, allowInsecure bool) error {
	u, err := parseURL(raw, "https", "http")
	if err != nil {
		return err
	}
	ip, isIP, err := hostAddr(u.Hostname())
	if err != nil {
		return err
	}
	if !isIP {
		if u.Scheme == "http" && !allowInsecure && looksPublic(u.Hostname()) {
			return fmt.Errorf("http to %s would send the key unprotected; use https, or set allowInsecure: true", u.Hostname())
		}
		return nil // what the name leads to is checked by the admin API, and whenever it is dialled
	}
	return CheckAddr(ip, u.Scheme == "http" && !allowInsecure)
}

// looksPublic tells host names of the Internet from those of a private
// network: names without a dot, and those under the suffixes that are set
// aside for private use or usual in clusters.
func looksPublic(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if !strings.Contains(host, ".") {
		return false
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp", ".private", ".test", ".svc"} {
		if strings.HasSuffix(host, suffix) {
			return false
		}
	}
	return true
}

// CheckEndpointURL tells what is wrong with an http or https URL that is no
// provider's, such as a webhook's.
func CheckEndpointURL(raw string) error {
	_, err := parseURL(raw, "https", "http")
	return err
}

// parseURL reads an absolute URL with one of the schemes, a plain host, and
// nothing that a base URL can't have. The first scheme is the one to offer.
// Messages never repeat the URL: it may hold a password.
func parseURL(raw string, schemes ...string) (*url.URL, error) {
	if strings.TrimSpace(raw) != raw {
		return nil, errors.New("the URL begins or ends with a space; remove it")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("this is no URL; write one such as %s://host/path", schemes[0])
	}
	known := false
	for _, s := range schemes {
		known = known || u.Scheme == s
	}
	switch {
	case !known && !strings.Contains(raw, "://"):
		return nil, fmt.Errorf("the URL has no scheme; begin it with %s://", schemes[0])
	case !known:
		return nil, fmt.Errorf("the scheme %s is not supported; write %s", quote(u.Scheme), orList(schemes))
	case u.User != nil:
		return nil, errors.New("the URL holds a user name or password; remove it, and give the credential in its own field")
	case u.RawQuery != "" || u.ForceQuery:
		return nil, errors.New("the URL has a query (?…); remove it")
	case strings.Contains(raw, "#"):
		return nil, errors.New("the URL has a fragment (#…); remove it")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, fmt.Errorf("the URL has no host; write %s://host/path", u.Scheme)
	}
	if err := checkPort(u); err != nil {
		return nil, err
	}
	return u, checkHost(u.Hostname())
}

func checkPort(u *url.URL) error {
	port := u.Port()
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return errors.New("the URL has a : without a port; remove it or write the port")
		}
		return nil
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("port %s is out of range; write 1 to 65535", port)
	}
	return nil
}

// checkHost accepts IP addresses and the characters of host names.
func checkHost(host string) error {
	if strings.Contains(host, ":") { // an IPv6 address; url.Parse wants brackets
		return nil
	}
	for _, r := range host {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
		case r > 127:
			return fmt.Errorf("the host has the character %q; write the host in its ASCII form (xn--…)", r)
		default:
			return fmt.Errorf("the host has the character %q, which no host name has", r)
		}
	}
	if len(host) > 253 {
		return errors.New("the host name is longer than 253 characters")
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 {
			return fmt.Errorf("the host name %s has an empty or overlong part between its dots", quote(host))
		}
	}
	return nil
}
