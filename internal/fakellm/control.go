package fakellm

import (
	"encoding/json"
	"net/http"
	"strings"
)

// control is the HTTP control plane:
//
//	POST /__fake/rules     a list of rules; replaces the old one
//	POST /__fake/rules/add a list of rules, appended
//	POST /__fake/reset     forgets rules, records and notes
//	GET  /__fake/records   the records; with ?raw=1 also bodies as sent, base64
//	GET  /__fake/notes     DNS and TLS sightings
//	GET  /__fake/stats     counters
//	GET  /__fake/health
func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, controlPrefix) {
	case "rules":
		s.controlRules(w, r, s.SetRules)
	case "rules/add":
		s.controlRules(w, r, s.rules.add)
	case "reset":
		s.Reset()
		respond(w, object{"ok": true})
	case "records":
		recs := s.Records()
		if r.URL.Query().Get("raw") == "" {
			recs = withoutRaw(recs)
		}
		respond(w, recs)
	case "notes":
		respond(w, s.Notes())
	case "stats":
		respond(w, object{"requests": s.Requests(), "in_flight": s.InFlight(), "gone": s.Gone()})
	case "health":
		respond(w, object{"ok": true})
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) controlRules(w http.ResponseWriter, r *http.Request, apply func([]Rule) error) {
	var rules []Rule
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields() // a misspelt field would script another fault than the one meant
	err := dec.Decode(&rules)
	if err == nil {
		err = apply(rules)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	respond(w, object{"ok": true})
}

func respond(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	// A client that has left is the only failure, and needs no answer.
	_ = json.NewEncoder(w).Encode(v)
}
