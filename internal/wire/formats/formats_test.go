package formats_test

import (
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire/formats"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

func TestAll_formats_keep_the_contract(t *testing.T) {
	for _, f := range formats.All() {
		t.Run(string(f.ID), func(t *testing.T) { wiretest.Run(t, f) })
	}
}

func TestAll_formats_and_their_paths_are_unique(t *testing.T) {
	ids, paths, endpoints := map[llm.Format]bool{}, map[string]llm.EndpointID{}, map[llm.EndpointID]bool{}
	for _, f := range formats.All() {
		if ids[f.ID] {
			t.Errorf("two formats are called %q", f.ID)
		}
		ids[f.ID] = true
		for _, e := range f.Endpoints {
			if endpoints[e.ID] {
				t.Errorf("two endpoints are called %q", e.ID)
			}
			endpoints[e.ID] = true
			for _, p := range e.Paths {
				key := e.Method + " " + strings.TrimSuffix(p, "/")
				if other, taken := paths[key]; taken {
					t.Errorf("%q serves %s and %s", key, other, e.ID)
				}
				paths[key] = e.ID
			}
		}
	}
}

// RQ-EP: the rows that are built, as chapter 20 has them.
func TestEndpoints_are_those_of_the_endpoint_table(t *testing.T) {
	type row struct{ stream, failover, counts bool }
	want := map[string]row{
		"POST /v1/messages":                        {true, true, true},
		"POST /anthropic/v1/messages":              {true, true, true},
		"POST /v1/messages/count_tokens":           {},
		"POST /anthropic/v1/messages/count_tokens": {},
		"POST /v1/chat/completions":                {true, true, true},
		"POST /chat/completions":                   {true, true, true},
		"POST /openai/v1/chat/completions":         {true, true, true},
	}
	for _, e := range formats.Endpoints() {
		for _, p := range e.Paths {
			key := e.Method + " " + p
			w, ok := want[key]
			if !ok {
				continue // a newer row
			}
			if got := (row{e.Stream, e.Failover, e.Counts}); got != w {
				t.Errorf("%s: stream, failover, counts are %v, want %v", key, got, w)
			}
			delete(want, key)
		}
	}
	for key := range want {
		t.Errorf("%s is missing", key)
	}
}
