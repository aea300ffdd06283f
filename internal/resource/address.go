package resource

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// CheckAddr tells why a provider may not be reached at an address (RS-PROV-5):
// link-local and metadata addresses never, in whatever form they are wrapped;
// with localOnly, which is plain http without allowInsecure, only loopback and
// private addresses. It is for save time and for dial time.
func CheckAddr(ip netip.Addr, localOnly bool) error {
	shown := ip.String()
	for _, a := range unwrapAddr(ip) {
		if what := forbidden(a); what != "" {
			return fmt.Errorf("%s is %s; a provider may not be there", shown, what)
		}
	}
	if localOnly && !IsLocalAddr(ip) {
		return fmt.Errorf("%s is neither a loopback nor a private address, and http would send the key unprotected;"+
			" use https, or set allowInsecure: true", shown)
	}
	return nil
}

// IsLocalAddr tells loopback and private addresses (RFC 1918, fc00::/7).
func IsLocalAddr(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	return ip.IsLoopback() || ip.IsPrivate()
}

// forbidden says what an address is that no provider may have; empty if it is
// none of them. Sources: the metadata services' own documentation (AWS, Google
// Cloud, Azure, Oracle, Alibaba), 2026-11.
func forbidden(ip netip.Addr) string {
	switch {
	case ip.IsLinkLocalUnicast():
		return "a link-local address, where clouds keep their metadata service"
	case ip.IsUnspecified():
		return "the unspecified address (write 127.0.0.1 for this machine)"
	case ip.IsMulticast(), ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return "a multicast or broadcast address"
	}
	if slices.Contains([]string{
		"fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192",
	}, ip.String()) {
		return "a cloud's metadata address"
	}
	return ""
}

// unwrapAddr gives an address and the IPv4 address that it stands for or
// carries: mapped and compatible forms, NAT64 and 6to4.
func unwrapAddr(ip netip.Addr) []netip.Addr {
	ip = ip.WithZone("")
	if ip.Is4() || ip.Is4In6() {
		return []netip.Addr{ip.Unmap()}
	}
	b := ip.As16()
	tail := netip.AddrFrom4([4]byte(b[12:16]))
	out := []netip.Addr{ip}
	switch {
	case within(ip, "64:ff9b::/96"), within(ip, "64:ff9b:1::/48"):
		out = append(out, tail)
	case within(ip, "::/96") && !ip.IsLoopback() && !ip.IsUnspecified():
		out = append(out, tail)
	case within(ip, "2002::/16"):
		out = append(out, netip.AddrFrom4([4]byte(b[2:6])))
	}
	return out
}

func within(ip netip.Addr, prefix string) bool { return netip.MustParsePrefix(prefix).Contains(ip) }

// hostAddr reads a host that is an address. Spellings that some resolvers take
// for an IPv4 address (2852039166, 0xa9.254.43518) are refused, because the
// check and the dialler might read them differently; so is the one metadata
// service that has a name of its own.
func hostAddr(host string) (ip netip.Addr, isIP bool, err error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip, true, nil
	}
	if strings.Contains(host, ":") {
		return netip.Addr{}, false, fmt.Errorf("%s is no IPv6 address", quote(host))
	}
	bare := strings.ToLower(strings.TrimSuffix(host, "."))
	if bare == "metadata.google.internal" || bare == "metadata" {
		return netip.Addr{}, false, errors.New("the host is a cloud's metadata service; a provider may not be there")
	}
	labels := strings.Split(bare, ".")
	if !numeric(labels[len(labels)-1]) {
		return netip.Addr{}, false, nil
	}
	odd, ok := oddIPv4(labels)
	if !ok {
		return netip.Addr{}, false, fmt.Errorf("the host %s is neither a name nor an IPv4 address", quote(host))
	}
	if err := CheckAddr(odd, false); err != nil {
		return netip.Addr{}, false, err
	}
	return netip.Addr{}, false, fmt.Errorf("%s is an unusual spelling of an IPv4 address; write %s", quote(host), odd)
}

// numeric tells a label that a resolver may read as a number.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// oddIPv4 reads one to four numbers as inet_aton does: the last one fills the
// bytes that are left, and each may be decimal, octal or hexadecimal.
func oddIPv4(labels []string) (netip.Addr, bool) {
	if len(labels) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, l := range labels {
		bits := 8
		if i == len(labels)-1 {
			bits = 8 * (5 - len(labels))
		}
		n, err := parseOdd(l, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		v = v<<bits | n // the sizes add up to 32 bits
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(v))
	return netip.AddrFrom4(b), true
}

func parseOdd(label string, bits int) (uint64, error) {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		if hex == "" {
			return 0, nil
		}
		return strconv.ParseUint(hex, 16, bits)
	}
	if len(label) > 1 && label[0] == '0' {
		if n, err := strconv.ParseUint(label, 8, bits); err == nil {
			return n, nil
		}
	}
	return strconv.ParseUint(label, 10, bits)
}
