package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/interlock-gateway/interlock/internal/secret"
)

// Minutes is how long the made-up traffic is.
const Minutes = 60

// Traffic sends what an hour brings: plain and streamed requests of three keys,
// a few that fail over, some that are refused, and at its end enough failures on
// premises for an open breaker. inMinutes runs a function for each minute, from
// the first to the last. It gives the number of answers by status.
func (w *World) Traffic(ctx context.Context, url string, keys []secret.String, inMinutes func(send func(minute int) error) error) (map[int]int, error) {
	t := &traffic{url: url, keys: keys, answers: map[int]int{}, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}}}
	defer t.client.CloseIdleConnections()
	// The breaker stays open for its time; the provider behind it is well again.
	defer w.OnPremises.Reset()
	defer w.External.Reset()
	err := inMinutes(func(m int) error {
		if err := t.send(ctx, 2+m*13%5+m%17/6, func(i int) ask { return everyday(m + i) }); err != nil {
			return err
		}
		switch m {
		case 17, 18, 41:
			if err := w.External.Break(http.StatusServiceUnavailable, 1); err != nil {
				return err
			}
			return t.send(ctx, 1, always(ask{model: FailoverModel}))
		case 24, 25, 52:
			return t.send(ctx, 1, always(ask{model: "gpd-5.4"})) // nobody serves it
		case 33, 34:
			return t.send(ctx, 1, always(ask{model: FailoverModel, wrong: true})) // a key that there is not
		case Minutes - 1:
			// Five failures in a row open the breaker; the last ones skip the provider.
			if err := w.OnPremises.Break(http.StatusInternalServerError, 0); err != nil {
				return err
			}
			return t.send(ctx, 8, always(ask{model: LocalModel}))
		}
		return nil
	})
	return t.answers, err
}

// atOnce is how many requests run at one time.
const atOnce = 4

// ask is one request.
type ask struct {
	model  string
	key    int
	stream bool
	wrong  bool // with a key that does not exist
}

// everyday is the mix of an ordinary hour.
func everyday(i int) ask {
	models := []string{FailoverModel, WeightedModel, LocalModel, WeightedModel, Alias}
	return ask{model: models[i%len(models)], key: i % 3, stream: i%4 == 0}
}

func always(a ask) func(int) ask { return func(int) ask { return a } }

// traffic sends requests and counts answers.
type traffic struct {
	url    string
	keys   []secret.String
	client *http.Client

	mu      sync.Mutex
	answers map[int]int
	err     error
}

// send sends n requests, some at once.
func (t *traffic) send(ctx context.Context, n int, what func(i int) ask) error {
	var work sync.WaitGroup
	for worker := range atOnce {
		work.Go(func() {
			for i := worker; i < n && ctx.Err() == nil; i += atOnce {
				status, err := t.one(ctx, what(i))
				t.mu.Lock()
				t.answers[status]++
				if err != nil && t.err == nil {
					t.err = err
				}
				t.mu.Unlock()
			}
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return t.err
}

// one sends a request and reads its answer.
func (t *traffic) one(ctx context.Context, a ask) (int, error) {
	path := "/v1/chat/completions"
	body := map[string]any{"model": a.model, "stream": a.stream, "messages": []any{map[string]string{"role": "user", "content": "Hello"}}}
	if a.model == WeightedModel {
		path, body["max_tokens"] = "/v1/messages", 100
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, fmt.Errorf("make a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url+path, bytes.NewReader(raw))
	if err != nil {
		return 0, fmt.Errorf("make a request: %w", err)
	}
	key := t.keys[a.key].Reveal()
	if a.wrong {
		key = "ilk_a_key_that_does_not_exist"
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := t.client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("send a request: %w", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, fmt.Errorf("read an answer: %w", err)
	}
	return resp.StatusCode, nil
}
