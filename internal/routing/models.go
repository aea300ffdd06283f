package routing

import (
	"strings"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// Models lists the model names that a caller can use on an endpoint. It is
// built on Decide: a name is listed exactly when it would have a candidate on
// one of the endpoints.
func Models(s *Snapshot, caller Caller, endpoints []*llm.Endpoint) []string {
	var out []string
	for _, name := range s.models {
		lower := strings.ToLower(name)
		if _, alias := s.aliases[lower]; !alias && s.find(lower).routes == nil {
			continue // Decide would only explain at length that no route serves it
		}
		for _, e := range endpoints {
			if Decide(s, &Input{Query: Query{Endpoint: e, Model: name, Caller: caller}}).Refusal == nil {
				out = append(out, name)
				break
			}
		}
	}
	return out
}
