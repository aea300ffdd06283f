package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/dryrun"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/routing"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/upstream"
)

// probeResult is what came of a test of a provider.
type probeResult struct {
	// OK: the provider served.
	OK bool `json:"ok"`
	// Status is the provider's HTTP status; 0 when no answer came.
	Status int `json:"status"`
	// LatencyMs is the time to the whole answer, in milliseconds.
	LatencyMs float64 `json:"latencyMs"`
	// Model is the name that the provider received.
	Model string `json:"model"`
	// Category is what the failure means; absent if the provider served.
	Category failure.Category `json:"category,omitempty"`
	// Message is the provider's own, without its key, at most 500 bytes.
	Message string `json:"message,omitempty"`
	// Code is the provider's own.
	Code string `json:"code,omitempty"`
}

// Bounds of a test.
const (
	probeTime    = 30 * time.Second
	maxProbeBody = 64 << 10
	maxProbeText = 500
)

func (s *server) testProvider(ctx context.Context, in *operateIn) (*probeOut, error) {
	model := ""
	if err := readOptional(in.RawBody, map[string]any{"model": &model}); err != nil {
		return nil, err
	}
	v, err := s.operable(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	target := s.live().Targets[v.ID]
	switch {
	case v.NoKey:
		return nil, invalid("", "the key of Provider %q can't be read, so it can't be tested; check its apiKey", v.ID)
	case !v.OrgKey:
		return nil, invalid("", "Provider %q has no key to test with: its callers bring their own credential. Send a request as one of them, or give it an apiKey", v.ID)
	case target == nil:
		return nil, fault(http.StatusConflict, "not_in_use", "Provider %q is being changed; try again", v.ID)
	}
	if model == "" {
		if model = cmp.Or(s.probeModel(ctx, v), target.Try); model == "" {
			return nil, invalid("model", "name a model of Provider %q to ask, or set its healthProbe.model", v.ID)
		}
	}
	if resource.LooksSecret(model) {
		return nil, invalid("model", "it holds a key instead of a model's name; rotate the key if it was sent elsewhere")
	}
	if err := resource.CheckModelName(model); err != nil {
		return nil, invalid("model", "%s", err)
	}
	if wire, ok := v.WireModels[strings.ToLower(model)]; ok {
		model = wire
	}
	endpoint := dryrun.EndpointOf(v.Format)
	if endpoint == nil || !target.Serves(endpoint.ID) {
		return nil, invalid("", "Provider %q speaks %s, which can't be tested in this version", v.ID, v.Format)
	}
	body, err := probeBody(v, model)
	if err != nil {
		return nil, err
	}
	return &probeOut{s.probe(ctx, target, endpoint, model, body)}, nil
}

// probe calls a provider once.
func (s *server) probe(ctx context.Context, target *upstream.Target, endpoint *llm.Endpoint, model string, body []byte) probeResult {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	out := probeResult{Model: model}
	began := time.Now()
	payload := upstream.NewPayload(body, nil)
	defer payload.Release()
	resp, err := target.Send(ctx, &upstream.Call{Endpoint: endpoint, Header: http.Header{}, Body: payload})
	var answer []byte
	if err == nil {
		defer func() { _ = resp.Body.Close() }() // it was read as far as it is wanted
		out.Status = resp.StatusCode
		answer, err = io.ReadAll(io.LimitReader(resp.Body, maxProbeBody))
	}
	out.LatencyMs = float64(time.Since(began).Microseconds()) / 1000
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		out.Category, out.Message = failure.Timeout, fmt.Sprintf("no answer within %.0f seconds", probeTime.Seconds())
	case err != nil:
		out.Category, out.Message = failure.Connection, probeText(target.Scrub([]byte(err.Error()), secret.String{}))
	case out.Status/100 == 2 && errorOf(answer) == "":
		out.OK = true
	default:
		f := target.Classify(&failure.Answer{Status: resp.StatusCode, Header: resp.Header, Body: answer, Now: s.now()})
		clean := target.Scrub(answer, secret.String{})
		out.Category, out.Code = f.Category, string(target.Scrub([]byte(f.Code), secret.String{}))
		if out.Message = probeText([]byte(errorOf(clean))); out.Message == "" {
			out.Message = probeText(clean)
		}
	}
	return out
}

// probeBody asks for one token. OpenAI's own newer models know the limit by
// another name, and refuse one that leaves no room to think.
func probeBody(v *routing.Provider, model string) ([]byte, error) {
	body := map[string]any{"model": model, "messages": []any{map[string]any{"role": "user", "content": "ping"}}}
	if v.Format == llm.OpenAIChat && v.Vendor == "openai" {
		body["max_completion_tokens"] = 16
	} else {
		body["max_tokens"] = 1
	}
	return json.Marshal(body)
}

// probeModel chooses a model that the provider itself names; empty if it names
// none.
func (s *server) probeModel(ctx context.Context, v *routing.Provider) string {
	if o, err := s.opt.Control.Get(ctx, "Provider", string(v.ID)); err == nil { // without the store the rest will do
		if p, ok := o.Object.(*resource.Provider); ok {
			if p.HealthProbe != nil && p.HealthProbe.Model != "" {
				return p.HealthProbe.Model
			}
			if len(p.StaticModels) > 0 {
				return p.StaticModels[0]
			}
			for _, text := range p.ModelPatterns { // its own: those of a family name dear models
				if !strings.Contains(text, "*") {
					return text
				}
			}
		}
	}
	return ""
}

// errorOf finds the message of an error object; empty if the body is none.
func errorOf(body []byte) string {
	var o struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
	}
	if json.Unmarshal(body, &o) != nil {
		return ""
	}
	var inner struct {
		Message string `json:"message"`
	}
	text := ""
	switch {
	case len(o.Error) == 0 || bytes.Equal(o.Error, []byte("null")):
	case json.Unmarshal(o.Error, &text) == nil && text != "":
		return text
	case json.Unmarshal(o.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	default:
		return string(o.Error)
	}
	if o.Message != "" {
		return o.Message
	}
	return o.Detail
}

// probeText makes a provider's text one line of a bounded length.
func probeText(b []byte) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "")), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	if len(text) > maxProbeText {
		text = strings.ToValidUTF8(text[:maxProbeText-len("…")], "") + "…"
	}
	return text
}
