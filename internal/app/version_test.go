package app_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// TestRS_VER_1_one_whole_version: the route's first member and the address of
// that member change together, back and forth, while requests run. Whichever
// version a request sees, it ends at the same fake; a mix of two versions
// would end at the other. Its record names the version that decided.
func TestRS_VER_1_one_whole_version(t *testing.T) {
	right, wrong := gwtest.NewFake(t), gwtest.NewFake(t)
	s := server(t, t.TempDir(), "seed", right.OpenAI("odd"), wrong.OpenAI("even"), gwtest.Route("r", "gpt-5", "odd", "even"))
	doc := func(name string, f *gwtest.Fake) string {
		return fmt.Sprintf(`{"kind":"Provider","name":%q,"type":"openai","baseUrl":"%s/v1"}`, name, f.URL)
	}
	route := func(members ...string) string {
		return `{"kind":"Route","name":"r","modelPatterns":["gpt-5"],"members":[{"provider":"` + strings.Join(members, `"},{"provider":"`) + `"}]}`
	}
	odd := `{"documents":[` + doc("odd", right) + `,` + doc("even", wrong) + `,` + route("odd", "even") + `]}`
	even := `{"documents":[` + doc("odd", wrong) + `,` + doc("even", right) + `,` + route("even", "odd") + `]}`

	ctx, end := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var served atomic.Int64
	for w := range 6 {
		load.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				req := s.Request(t, "POST", chatPath, gwtest.Chat("gpt-5", (w+i)%2 == 0))
				resp, err := s.Client.Do(req)
				if err != nil {
					t.Errorf("request: %v", err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != 200 || err != nil || resp.Header.Get("X-Interlock-Attempts") != "1" {
					t.Errorf("status %d, %v: %.300s", resp.StatusCode, err, body)
					return
				}
				served.Add(1)
			}
		})
	}
	swaps := 24
	if testing.Short() {
		swaps = 10
	}
	for i := range swaps {
		next := even
		if i%2 == 1 {
			next = odd
		}
		admin(t, s, 200, "POST", "/import", next)
		seen := served.Load()
		eventually(t, "requests under the new version", func() bool { return served.Load() > seen+3 || t.Failed() })
	}
	end()
	load.Wait()
	if n := wrong.Requests(); n != 0 {
		t.Errorf("%d requests ended at the wrong provider", n)
	}
	if got := revision(t, s); got != int64(1+swaps) {
		t.Fatalf("%d versions, want %d", got, 1+swaps)
	}
	requests := 0
	seen := map[uint64]bool{}
	for _, r := range records(t, s) {
		if r.Kind != audit.KindRequest {
			continue
		}
		requests++
		seen[r.ConfigVersion] = true
		want := map[bool]string{true: "odd", false: "even"}[r.ConfigVersion%2 == 1]
		if r.Provider != want {
			t.Errorf("version %d decided for %s, want %s", r.ConfigVersion, r.Provider, want)
		}
	}
	if int64(requests) != served.Load() {
		t.Errorf("%d requests were served, %d recorded", served.Load(), requests)
	}
	t.Logf("%d requests over %d versions", requests, len(seen))
}
