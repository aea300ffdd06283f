package admin

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// Bounds of looking up host names while somebody waits for a save.
const (
	lookUpTime = time.Second
	maxLookUps = 16 // at once
)

// checkHosts refuses providers whose new baseUrl names a host that leads to an
// address where no provider may be (RS-PROV-5). A name that can't be looked up
// now is accepted: the dial checks again, and refuses.
func (s *server) checkHosts(ctx context.Context, ops []control.Op) error {
	if s.opt.LookUp == nil {
		return nil
	}
	named, err := s.newHosts(ctx, ops)
	if err != nil || len(named) == 0 {
		return err
	}
	found := s.lookUp(ctx, slices.Compact(slices.Sorted(maps.Values(named))))
	var wrong resource.Problems
	for _, i := range slices.Sorted(maps.Keys(named)) {
		for _, ip := range found[named[i]] {
			if err := resource.CheckAddr(ip, false); err != nil {
				wrong = append(wrong, resource.Problem{
					Code: resource.CodeInvalid, Object: resource.Ref{Kind: "Provider", Name: ops[i].Put.Head().Name}, Path: "baseUrl",
					Message: fmt.Sprintf("the host %s leads to a forbidden address: %v", named[i], err),
				})
				break
			}
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &control.Error{Status: http.StatusBadRequest, Code: wrong[0].Code, Detail: "the change is refused", Problems: wrong}
}

// newHosts are the host names that a change brings, by its step.
func (s *server) newHosts(ctx context.Context, ops []control.Op) (map[int]string, error) {
	out := map[int]string{}
	for i := range ops {
		if p, ok := ops[i].Put.(*resource.Provider); ok {
			if host := hostOf(p); host != "" {
				out[i] = host
			}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	current, err := s.opt.Control.List(ctx, "Provider")
	if err != nil {
		return nil, err
	}
	urls := make(map[string]string, len(current))
	for _, o := range current {
		if p, ok := o.Object.(*resource.Provider); ok {
			urls[p.Name] = p.BaseURL
		}
	}
	maps.DeleteFunc(out, func(i int, _ string) bool {
		p, ok := ops[i].Put.(*resource.Provider)
		return ok && urls[p.Name] == p.BaseURL
	})
	return out, nil
}

// hostOf is the host name in a provider's baseUrl; empty if there is none to
// look up.
func hostOf(p *resource.Provider) string {
	if p.BaseURL == "" || resource.CheckBaseURL(p.BaseURL, true) != nil {
		return "" // what is wrong with the text is reported by the save
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(host); err == nil {
		return "" // checked already
	}
	return host
}

// lookUp gives the addresses of host names, as far as they are known in time.
func (s *server) lookUp(ctx context.Context, hosts []string) map[string][]netip.Addr {
	ctx, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	found := make(map[string][]netip.Addr, len(hosts))
	free := make(chan struct{}, maxLookUps)
	for _, host := range hosts {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			ips, err := s.opt.LookUp(ctx, host)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[host] = ips
		})
	}
	all.Wait()
	return found
}
