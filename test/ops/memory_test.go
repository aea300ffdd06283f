//go:build linux

package ops

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// status reads a figure in KiB from what the kernel says of a process.
func (p *process) status(name string) int64 {
	p.t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return n
		}
	}
	p.t.Fatalf("no %s", name)
	return 0
}

// held is a provider that keeps the answers to the model "gpt-held" until it is
// told, and answers others at once. It keeps no body.
type held struct {
	*httptest.Server
	waiting atomic.Int64
	release chan struct{}
}

func newHeld(t *testing.T) *held {
	t.Helper()
	h := &held{release: make(chan struct{})}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := make([]byte, 64)
		n, _ := io.ReadFull(r.Body, head)
		_, _ = io.Copy(io.Discard, r.Body)
		if bytes.Contains(head[:n], []byte("gpt-held")) {
			h.waiting.Add(1)
			defer h.waiting.Add(-1)
			select {
			case <-h.release:
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *held) provider(more ...string) string {
	return strings.Join(append([]string{"kind: Provider", "name: a", "type: openai", "baseUrl: " + h.URL + "/v1", "apiKey: sk-key-of-a"}, more...), "\n")
}

// send sends a body that is made while it is sent.
func (p *process) send(ctx context.Context, body io.Reader, length int64) (a answer) {
	req, err := http.NewRequestWithContext(ctx, "POST", p.url+chatPath, body)
	if err != nil {
		return answer{err: err}
	}
	req.ContentLength = length
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := p.client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	a.status, a.header = resp.StatusCode, resp.Header
	b, err := io.ReadAll(resp.Body)
	a.body, a.err = string(b), err
	return a
}

// large is a request of n bytes.
func large(n int64) io.Reader {
	const head, tail = `{"model":"gpt-held","messages":[{"role":"user","content":"`, `"}]}`
	return io.MultiReader(strings.NewReader(head), io.LimitReader(letters{}, n-int64(len(head)+len(tail))), strings.NewReader(tail))
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestOP_5_memory_of_large_bodies: however many come at once, the process stays
// below GOMEMLIMIT, who finds no room is told so at once, small requests are
// served meanwhile, and all of it is there again afterwards.
func TestOP_5_memory_of_large_bodies(t *testing.T) {
	if testing.Short() {
		t.Skip("sends gigabytes")
	}
	const limit, body = 768 << 20, 32 << 20
	t.Setenv("GOMEMLIMIT", strconv.Itoa(limit))
	for _, c := range []struct{ name, provider string }{
		{"as they came", ""},
		{"with another name for the model", "modelAliases: {gpt-held: gpt-held-2}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			provider := newHeld(t)
			s := newSite(t, provider.provider(c.provider), gwtest.Route("r", `"gpt-*"`, "a"))
			p := s.start()
			p.chat(200)
			idle := p.status("VmRSS")
			for range 2 {
				answers := make(chan answer, 40)
				var wg sync.WaitGroup
				for range cap(answers) {
					wg.Go(func() { answers <- p.send(t.Context(), large(body), body) })
				}
				refused := 0
				poll(t, "each body waits at the provider or is refused", func() bool {
					p.chat(200)
					for len(answers) > 0 {
						a := <-answers
						refused++
						if a.err == nil && (a.status != 503 || a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, "gateway_overloaded")) {
							t.Errorf("%d %v %.300s", a.status, a.header, a.body)
						}
					}
					return refused > 0 && refused+int(provider.waiting.Load()) == cap(answers)
				})
				for range 100 {
					p.chat(200)
				}
				waiting := int(provider.waiting.Load())
				if waiting < 3 {
					t.Errorf("%d bodies fit", waiting)
				}
				for range waiting {
					provider.release <- struct{}{}
				}
				wg.Wait()
				for range waiting {
					if a := <-answers; a.err != nil || a.status != 200 {
						t.Errorf("one that fitted: %d %v %s", a.status, a.err, a.body)
					}
				}
				// The limit is of what Go manages; the program's own pages, which the
				// kernel can drop, come on top.
				peak := p.status("VmHWM") - p.status("RssFile")
				t.Logf("%d of %d bodies fitted; RSS %d MiB idle, %d MiB at most", waiting, cap(answers), idle>>10, peak>>10)
				if peak<<10 > limit+limit/20 { // the limit is a soft one
					t.Errorf("%d MiB, with a limit of %d MiB", peak>>10, limit>>20)
				}
			}
			p.stop()
		})
	}
}
