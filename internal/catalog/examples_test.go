package catalog

import (
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/failure"
)

// all lists every file's entry, the generic one too.
func all(tb testing.TB, c *Catalog) []*Vendor {
	tb.Helper()
	list := []*Vendor{generic(tb, c)}
	for _, id := range c.IDs() {
		list = append(list, vendor(tb, c, id))
	}
	return list
}

func examplesOf(tb testing.TB, v *Vendor) []Example {
	tb.Helper()
	list, err := v.Examples()
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

// fullID is the id that Explain gives for an example's signal.
func fullID(v *Vendor, signal string) string {
	if signal == failure.ByStatus || strings.HasPrefix(signal, genericID+"/") {
		return signal
	}
	return v.ID + "/" + signal
}

func TestExamples_BY_8_mean_what_they_say(t *testing.T) {
	for _, v := range all(t, mustLoad(t)) {
		for _, x := range examplesOf(t, v) {
			t.Run(v.ID+"/"+x.Name, func(t *testing.T) {
				f, why := v.Classifier().Explain(x.Answer())
				if want := fullID(v, x.Signal); why != want {
					t.Errorf("decided by %s, want %s", why, want)
				}
				checkFailure(t, f, x.Want, x.ContextLength, x.RetryAfter)
			})
		}
	}
}

func TestExamples_BY_8_every_signal_has_one(t *testing.T) {
	for _, v := range all(t, mustLoad(t)) {
		shown := map[string]bool{}
		for _, x := range examplesOf(t, v) {
			shown[fullID(v, x.Signal)] = true
		}
		for _, s := range v.Signals {
			if id := v.ID + "/" + s.ID; !shown[id] {
				t.Errorf("no example shows signal %s", id)
			}
		}
	}
}

// The failure may be logged and shown: nothing of the message is in it.
func TestExamples_describe_without_body_text(t *testing.T) {
	for _, v := range all(t, mustLoad(t)) {
		for _, x := range examplesOf(t, v) {
			f := v.Classifier().Classify(x.Answer())
			if len(f.Code) > 64 || strings.ContainsFunc(f.Code, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%s, %s: code %q", v.ID, x.Name, f.Code)
			}
			if s := f.String(); !strings.HasPrefix(s, string(x.Want)) || len(s) > 80 {
				t.Errorf("%s, %s: described as %q", v.ID, x.Name, s)
			}
		}
	}
}

func TestExamples_codes_that_the_audit_shows(t *testing.T) {
	c := mustLoad(t)
	want := map[string]string{
		"openai-quota":     "insufficient_quota",
		"zai-5h":           "1308",
		"gemini-day":       "RESOURCE_EXHAUSTED",
		"bedrock-throttle": "ThrottlingException",
		"codex":            "usage_limit_reached",
		"openrouter-200":   "",
		"cf-html":          "",
	}
	for _, s := range specSignals(t) {
		code, ok := want[s.Name]
		if !ok {
			continue
		}
		if f := generic(t, c).Classifier().Classify(s.answer()); f.Code != code {
			t.Errorf("%s: code %q, want %q", s.Name, f.Code, code)
		}
	}
}
