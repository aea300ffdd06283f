package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// RS-PROV-5: a host name that leads to a metadata address is refused at the
// save, at its field; one that is not known, or not in time, is left to the dial;
// and a baseUrl that does not change is not looked up again.
func TestRS_PROV_5_names_are_looked_up_at_the_save(t *testing.T) {
	e := newEnv(t)
	var mu sync.Mutex
	asked := map[string]int{}
	known := map[string]string{"api.good.example": "203.0.113.7", "api.bad.example": "203.0.113.7 169.254.169.254", "six.bad.example": "fd00:ec2::254", "mapped.bad.example": "::ffff:169.254.1.1"}
	e.lookUp = func(ctx context.Context, host string) ([]netip.Addr, error) {
		mu.Lock()
		asked[host]++
		mu.Unlock()
		if host == "slow.example" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if known[host] == "" {
			return nil, errors.New("no such host")
		}
		var out []netip.Addr
		for ip := range strings.FieldsSeq(known[host]) {
			out = append(out, netip.MustParseAddr(ip))
		}
		return out, nil
	}
	body := func(host string) map[string]any { return providerBody("https://" + host + "/v1") }
	for _, host := range []string{"api.bad.example", "API.bad.example", "six.bad.example", "mapped.bad.example"} {
		for _, query := range []string{"", "?dryRun=true"} {
			p := e.admin("PUT", "/providers/x"+query, body(host)).code(400, "invalid").problem()
			if x := p.Errors[0]; x.Path != "baseUrl" || x.Object.Name != "x" || !strings.Contains(x.Message, strings.ToLower(host)) {
				t.Errorf("%s: %+v", host, p)
			}
		}
	}
	e.admin("POST", "/providers", map[string]any{"name": "x", "type": "openai", "baseUrl": "https://six.bad.example"}).code(400, "invalid").errorAt("baseUrl")
	text := "kind: Provider\nname: %s\ntype: openai\nbaseUrl: https://%s/v1\n"
	docs := fmt.Sprintf(text+"---\n"+text, "a", "api.good.example", "b", "api.bad.example")
	if x := e.admin("POST", "/import", docs, "Content-Type", "application/yaml").code(400, "invalid").errorAt("documents[1].baseUrl"); x.Line != 9 || x.Object.Name != "b" {
		t.Errorf("%+v", x)
	}
	began := time.Now()
	for _, host := range []string{"unknown.example", "slow.example", "api.good.example"} {
		e.admin("PUT", "/providers/"+host, body(host)).want(201)
	}
	if took := time.Since(began); took < time.Second || took > 5*time.Second {
		t.Errorf("a slow name took %s", took)
	}
	// It pointed elsewhere when it was saved: other changes go through.
	known["api.good.example"] = "169.254.169.254"
	n := asked["api.good.example"]
	changed := body("api.good.example")
	changed["residency"] = "eu"
	e.admin("PUT", "/providers/api.good.example", changed).want(200)
	e.admin("POST", "/providers/api.good.example/drain", nil).want(200)
	if asked["api.good.example"] != n {
		t.Error("a baseUrl that did not change was looked up")
	}
	e.admin("PUT", "/providers/ip", providerBody("https://203.0.113.9")).want(201)
	if asked["203.0.113.9"] != 0 {
		t.Error("an address was looked up")
	}
}
