package failure

import (
	"strings"
	"testing"
	"time"
)

func TestRules_first_match_wins_and_vendor_rows_go_first(t *testing.T) {
	c := mustCompile(t,
		[]Signal{
			{ID: "v/one", Status: []int{429}, Text: []string{"alpha"}, Category: QuotaExhausted},
			{ID: "v/two", Status: []int{429}, Text: []string{"alpha", "beta"}, Category: Overloaded},
		},
		Generic{Signals: []Signal{{ID: "g", Text: []string{"alpha", "gamma"}, Category: ModelUnavailable}}})
	for body, want := range map[string]string{
		`{"error":{"message":"ALPHA and beta"}}`: "v/one",
		`{"error":{"message":"Beta"}}`:           "v/two",
		`{"error":{"message":"gamma"}}`:          "g",
		`{"error":{"message":"delta"}}`:          ByStatus,
	} {
		if _, why := c.Explain(&Answer{Status: 429, Body: []byte(body), Now: noon}); why != want {
			t.Errorf("%s: by %s, want %s", body, why, want)
		}
	}
	if _, why := c.Explain(&Answer{Status: 400, Body: []byte(`{"error":{"message":"alpha"}}`), Now: noon}); why != "g" {
		t.Errorf("another status: by %s", why)
	}
}

func TestRules_every_kind_of_condition(t *testing.T) {
	body := `{"error":{"type":"Kind","code":1308,"status":"RESOURCE_EXHAUSTED","message":"Sorry, try again in 2 hours","details":[{"reason":"WHY"},{"violations":[{"quotaId":"RequestsPerDay"}]}]}}`
	for name, row := range map[string]struct {
		signal Signal
		want   bool
	}{
		"type":                {Signal{Type: []string{"kind"}}, true},
		"another type":        {Signal{Type: []string{"kin"}}, false},
		"code":                {Signal{Code: []string{"1308"}}, true},
		"word":                {Signal{Word: []string{"Resource_Exhausted"}}, true},
		"reason":              {Signal{Word: []string{"why"}}, true},
		"name":                {Signal{Name: []string{"other", "kind"}}, true},
		"another name":        {Signal{Name: []string{"sorry"}}, false},
		"quotaId":             {Signal{QuotaID: []string{"PerDay"}}, true},
		"another quotaId":     {Signal{QuotaID: []string{"PerMinute"}}, false},
		"text":                {Signal{Text: []string{"x", "SORRY"}}, true},
		"plain match":         {Signal{Match: []string{"sorry, "}}, true},
		"pattern":             {Signal{Match: []string{`\bagain in \d`}}, true},
		"another pattern":     {Signal{Match: []string{`^again`}}, false},
		"not":                 {Signal{Text: []string{"sorry"}, Not: []string{"hours"}}, false},
		"header":              {Signal{Header: map[string]string{"X-State": "rejected"}}, true},
		"any header":          {Signal{Header: map[string]string{"x-state": "*"}}, true},
		"another header":      {Signal{Header: map[string]string{"x-state": "allowed"}}, false},
		"no such header":      {Signal{Header: map[string]string{"x-other": "*"}}, false},
		"a long wait":         {Signal{Text: []string{"sorry"}, LongerThan: Duration(time.Hour)}, true},
		"not so long a wait":  {Signal{Text: []string{"sorry"}, LongerThan: Duration(2 * time.Hour)}, false},
		"empty":               {Signal{Status: []int{429}, Empty: true}, false},
		"all must hold":       {Signal{Type: []string{"kind"}, Code: []string{"1"}}, false},
		"all hold":            {Signal{Status: []int{429}, Type: []string{"kind"}, Code: []string{"1308"}, Text: []string{"sorry"}}, true},
		"the status does not": {Signal{Status: []int{400}, Type: []string{"kind"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			row.signal.ID, row.signal.Category = "row", QuotaExhausted
			c := mustCompile(t, []Signal{row.signal}, Generic{})
			a := &Answer{Status: 429, Header: map[string][]string{"x-state": {"Rejected"}}, Body: []byte(body), Now: noon}
			if _, why := c.Explain(a); (why == "row") != row.want {
				t.Errorf("decided by %s", why)
			}
		})
	}
}

// An error inside a 200 answer has no status of its own, unless it names one.
func TestRules_an_error_inside_a_200(t *testing.T) {
	c := mustCompile(t, []Signal{
		{ID: "code", Status: []int{429}, Code: []string{"1310"}, Category: QuotaExhausted},
	}, Generic{
		Signals:  []Signal{{ID: "bare", Status: []int{403}, Category: ContentFilter}},
		StatusOf: map[string]int{"overloaded_error": 529, "api_error": 500, "permission_error": 403},
	})
	for body, want := range map[string]Failure{
		`{"error":{"code":"1310"}}`:                                       {Category: QuotaExhausted, Status: 200, Code: "1310"},
		`{"error":{"code":402}}`:                                          {Category: QuotaExhausted, Status: 402},
		`{"error":{"code":"429","type":"x"}}`:                             {Category: RateLimit, Status: 429, Code: "x"},
		`{"type":"error","error":{"type":"overloaded_error"}}`:            {Category: Overloaded, Status: 529, Code: "overloaded_error"},
		`{"type":"error","error":{"type":"api_error"}}`:                   {Category: ServerError, Status: 500, Code: "api_error"},
		`{"type":"error","error":{"type":"permission_error"}}`:            {Category: ContentFilter, Status: 403, Code: "permission_error"},
		`{"error":{"message":"what"}}`:                                    {Category: ServerError, Status: 200},
		"event: error\ndata: {\"error\":\ndata: {\"code\":\"1310\"}}\n\n": {Category: QuotaExhausted, Status: 200, Code: "1310"},
		"data: {\"error\":{\"code\":503}}":                                {Category: ServerError, Status: 503},
		": a comment\ndata:{\"error\":{\"code\":404}}":                    {Category: ModelUnavailable, Status: 404},
	} {
		for _, stream := range []bool{false, true} {
			if f := c.Classify(&Answer{Status: 200, Body: []byte(body), Stream: stream, Now: noon}); f != want {
				t.Errorf("%s: %+v, want %+v", body, f, want)
			}
		}
	}
	// In a stream the status of the answer is never the error's.
	if f := c.Classify(&Answer{Status: 500, Body: []byte(`{"error":{"code":429}}`), Stream: true, Now: noon}); f.Category != RateLimit {
		t.Errorf("a stream: %s", f)
	}
	if f := c.Classify(&Answer{Status: 500, Body: []byte(`{"error":{"code":429}}`), Now: noon}); f.Category != ServerError {
		t.Errorf("an answer: %s", f)
	}
}

func TestCompile_refuses(t *testing.T) {
	for want, s := range map[string]Signal{
		"unique":           {Status: []int{400}, Category: Auth},
		"must be unique":   {ID: ByStatus, Status: []int{400}, Category: Auth},
		"no condition":     {ID: "a", Category: Auth},
		"unknown category": {ID: "a", Status: []int{400}},
		"contextLength":    {ID: "a", Status: []int{400}, Category: Auth, ContextLength: true},
		"a reset goes":     {ID: "a", Status: []int{400}, Category: Auth, Reset: &Reset{}},
		"status 7":         {ID: "a", Status: []int{7}, Category: Auth},
		"empty entry":      {ID: "a", Text: []string{""}, Category: Auth},
		"empty header":     {ID: "a", Header: map[string]string{"x": ""}, Category: Auth},
		"lower case":       {ID: "a", Match: []string{`\SA`}, Category: Auth},
		"missing closing":  {ID: "a", Match: []string{`(`}, Category: Auth},
		"zone":             {ID: "a", Status: []int{429}, Category: RateLimit, Reset: &Reset{Midnight: "Local"}},
		"unknown time":     {ID: "a", Status: []int{429}, Category: RateLimit, Reset: &Reset{Monthly: "Nowhere/Else"}},
		"negative default": {ID: "a", Status: []int{429}, Category: RateLimit, Reset: &Reset{Default: -1}},
		"with a group":     {ID: "a", Status: []int{429}, Category: RateLimit, Reset: &Reset{Text: &TextTime{Match: "x", Layout: "2006", Zone: "UTC"}}},
		"text: zone":       {ID: "a", Status: []int{429}, Category: RateLimit, Reset: &Reset{Text: &TextTime{Match: "(x)", Layout: "2006"}}},
		"text: error":      {ID: "a", Status: []int{429}, Category: RateLimit, Reset: &Reset{Text: &TextTime{Match: "(", Layout: "2006"}}},
	} {
		_, err := Compile([]Signal{s}, Generic{})
		if err == nil || !strings.Contains(err.Error(), want) && want != "text: error" {
			t.Errorf("%s: %v", want, err)
		}
	}
	good := []Signal{{ID: "a", Status: []int{400}, Category: Auth}}
	if _, err := Compile(good, Generic{Signals: good}); err == nil {
		t.Error("the same id twice")
	}
	if _, err := Compile(nil, Generic{Signals: []Signal{{ID: "g"}}}); err == nil {
		t.Error("a bad generic row")
	}
	for name, status := range map[string]int{"x": 200, "X": 400} {
		if _, err := Compile(nil, Generic{StatusOf: map[string]int{name: status}}); err == nil {
			t.Errorf("statusOf %s: %d", name, status)
		}
	}
}

func TestDuration_reads_text(t *testing.T) {
	for text, want := range map[string]time.Duration{"15m": 15 * time.Minute, "31d": 31 * 24 * time.Hour, "1.5s": 1500 * time.Millisecond} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, time.Duration(d), err)
		}
	}
	for _, text := range []string{"", "soon", "-1d", "1.5d", "99999d"} {
		if err := new(Duration).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if b, err := Duration(90 * time.Minute).MarshalText(); err != nil || string(b) != "1h30m0s" {
		t.Errorf("%s, %v", b, err)
	}
}
