package failure

import (
	"testing"
	"time"
)

const none = time.Duration(-1)

// after classifies a 429 with this body and headers, as a rate limit or, with
// code "broke", as exhausted quota.
func after(t *testing.T, body string, header map[string]string, reset *Reset) time.Duration {
	t.Helper()
	c := mustCompile(t, []Signal{
		{ID: "broke", Name: []string{"broke"}, Category: QuotaExhausted, Reset: reset},
		{ID: "busy", Name: []string{"busy"}, Category: RateLimit, Reset: reset},
	}, Generic{})
	h := map[string][]string{}
	for name, value := range header {
		h[name] = []string{value}
	}
	f := c.Classify(&Answer{Status: 429, Header: h, Body: []byte(body), Now: noon})
	if !f.HasRetryAfter {
		if f.RetryAfter != 0 {
			t.Errorf("no time, but %s", f.RetryAfter)
		}
		return none
	}
	return f.RetryAfter
}

const (
	limit = `{"error":{"code":"busy"}}`
	quota = `{"error":{"code":"broke"}}`
)

func TestRetryAfter_header(t *testing.T) {
	const date = "Mon, 30 Nov 2026 12:02:00 GMT"
	for name, row := range map[string]struct {
		header       map[string]string
		limit, quota time.Duration
	}{
		"RT-FO-429 seconds":                 {map[string]string{"Retry-After": "17"}, 17 * time.Second, 17 * time.Second},
		"RT-FO-429 lower-case name":         {map[string]string{"retry-after": " 17 "}, 17 * time.Second, 17 * time.Second},
		"RT-FO-429 a fraction, exactly":     {map[string]string{"Retry-After": "1.234567891"}, 1234567891, 1234567891},
		"RT-FO-429 milliseconds go first":   {map[string]string{"retry-after-ms": "1500.5", "Retry-After": "9"}, 1500500 * time.Microsecond, 1500500 * time.Microsecond},
		"RT-FO-429 a date":                  {map[string]string{"Retry-After": date}, 2 * time.Minute, 2 * time.Minute},
		"RT-FO-429 a date, their clock":     {map[string]string{"Retry-After": date, "Date": "Mon, 30 Nov 2026 12:01:30 GMT"}, 30 * time.Second, 30 * time.Second},
		"RT-FO-429 an older form of dates":  {map[string]string{"Retry-After": "Monday, 30-Nov-26 12:02:00 GMT"}, 2 * time.Minute, 2 * time.Minute},
		"RT-FO-429 a day at most":           {map[string]string{"Retry-After": "999999999"}, 24 * time.Hour, 24 * time.Hour},
		"RT-FO-429 a number beyond int64":   {map[string]string{"Retry-After": "99999999999999999999999"}, 24 * time.Hour, 24 * time.Hour},
		"RT-FO-6 absent":                    {nil, none, none},
		"RT-FO-6 garbage":                   {map[string]string{"Retry-After": "soon"}, none, none},
		"RT-FO-6 garbage with a number":     {map[string]string{"Retry-After": "10 apples"}, none, none},
		"RT-FO-6 not a number":              {map[string]string{"Retry-After": "NaN", "retry-after-ms": "+Inf"}, none, none},
		"RT-FO-6 negative":                  {map[string]string{"Retry-After": "-5"}, none, none},
		"RT-FO-6 RT-PARK zero":              {map[string]string{"Retry-After": "0"}, none, 0},
		"RT-FO-6 RT-PARK past":              {map[string]string{"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT"}, none, 0},
		"RT-FO-6 RT-PARK past, their clock": {map[string]string{"Retry-After": date, "Date": "Mon, 30 Nov 2026 13:00:00 GMT"}, none, 0},
		"R08 garbage, then a time":          {map[string]string{"retry-after-ms": "x", "Retry-After": "3"}, 3 * time.Second, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got := after(t, limit, row.header, nil); got != row.limit {
				t.Errorf("rate limit: %s, want %s", got, row.limit)
			}
			if got := after(t, quota, row.header, nil); got != row.quota {
				t.Errorf("quota: %s, want %s", got, row.quota)
			}
		})
	}
}

func TestRetryAfter_body_and_text(t *testing.T) {
	for name, row := range map[string]struct {
		body string
		want time.Duration
	}{
		"resets_at":                 {`{"error":{"code":"broke","resets_at":1796043600}}`, time.Hour},
		"resets_at in milliseconds": {`{"error":{"code":"broke","resets_at":1796043600500}}`, time.Hour + 500*time.Millisecond},
		"resets_at goes first":      {`{"error":{"code":"broke","resets_at":1796043600,"resets_in_seconds":5}}`, time.Hour},
		"resets_at that is past":    {`{"error":{"code":"broke","resets_at":1796030000,"resets_in_seconds":5}}`, 5 * time.Second},
		"resets_at that is no time": {`{"error":{"code":"broke","resets_at":0}}`, none},
		"resets_at that is absurd":  {`{"error":{"code":"broke","resets_at":1796043600000000}}`, none},
		"resets_in_seconds":         {`{"error":{"code":"broke","resets_in_seconds":7200.5}}`, 2*time.Hour + 500*time.Millisecond},
		"resets_in_seconds, far":    {`{"error":{"code":"broke","resets_in_seconds":604800}}`, 24 * time.Hour},
		"retryDelay":                {`{"error":{"code":"busy","details":[{"retryDelay":"38.2s"}]}}`, 38200 * time.Millisecond},
		"retryDelay that is none":   {`{"error":{"code":"busy","details":[{"retryDelay":"later"}]}}`, none},
		"metadata.headers":          {`{"error":{"message":"x","code":"busy","metadata":{"headers":{"X-RateLimit-Reset":"1796043600000"}}}}`, time.Hour},
		"try again in 1.2s":         {`{"error":{"code":"busy","message":"Please try again in 1.2s."}}`, 1200 * time.Millisecond},
		"try again in 120ms":        {`{"error":{"code":"busy","message":"Please try again in 120ms."}}`, 120 * time.Millisecond},
		"try again in 6m0s":         {`{"error":{"code":"busy","message":"Please try again in 6m0s."}}`, 6 * time.Minute},
		"try again in 1h8m40s":      {`{"error":{"code":"broke","message":"Please try again in 1h8m40s."}}`, 68*time.Minute + 40*time.Second},
		"try again in words":        {`{"error":{"code":"busy","message":"Please try again in 1 hour and 5 minutes"}}`, 65 * time.Minute},
		"retry after":               {`{"error":{"code":"busy","message":"Please retry after 7 seconds."}}`, 7 * time.Second},
		"try again after":           {`{"error":{"code":"busy","message":"please try again after 1 seconds"}}`, time.Second},
		"retry in":                  {`{"error":{"code":"busy","message":"Please retry in 45.578569677s."}}`, 45578569677},
		"58 hours":                  {`{"error":{"code":"broke","message":"Please try again in 58 hours"}}`, 24 * time.Hour},
		"months are not minutes":    {`{"error":{"code":"broke","message":"try again in 2 months"}}`, 24 * time.Hour},
		"weeks and days":            {`{"error":{"code":"broke","message":"try again in 0 weeks 0.5 days"}}`, 12 * time.Hour},
		"a huge number":             {`{"error":{"code":"busy","message":"try again in 99999999999999999999 days"}}`, 24 * time.Hour},
		"no unit":                   {`{"error":{"code":"busy","message":"try again in 20"}}`, none},
		"later":                     {`{"error":{"code":"busy","message":"please try again later"}}`, none},
		"zero in the text":          {`{"error":{"code":"broke","message":"try again in 0s"}}`, none},
	} {
		t.Run(name, func(t *testing.T) {
			if got := after(t, row.body, nil, nil); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

func TestRetryAfter_buckets(t *testing.T) {
	for name, row := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"Go durations":                {map[string]string{"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s"}, 6 * time.Minute},
		"float seconds":               {map[string]string{"x-ratelimit-remaining-tokens-minute": "0.0", "x-ratelimit-reset-tokens-minute": "12.25"}, 12250 * time.Millisecond},
		"unix seconds":                {map[string]string{"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1796040030"}, 30 * time.Second},
		"unix milliseconds":           {map[string]string{"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1796040030250"}, 30250 * time.Millisecond},
		"RFC 3339":                    {map[string]string{"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-11-30T12:00:20Z"}, 20 * time.Second},
		"something is left":           {map[string]string{"x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "6m0s"}, none},
		"nothing says what is left":   {map[string]string{"x-ratelimit-reset-tokens": "6m0s"}, none},
		"the last of two to fill":     {map[string]string{"x-ratelimit-remaining-a": "0", "x-ratelimit-reset-a": "5s", "x-ratelimit-remaining-b": "0", "x-ratelimit-reset-b": "9s"}, 9 * time.Second},
		"a time that is past":         {map[string]string{"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1796030000"}, none},
		"garbage":                     {map[string]string{"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, none},
		"Retry-After goes before all": {map[string]string{"x-ratelimit-remaining": "0", "x-ratelimit-reset": "50", "retry-after": "2"}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got := after(t, limit, row.header, nil); got != row.want {
				t.Errorf("rate limit: %s, want %s", got, row.want)
			}
			if name == "Retry-After goes before all" {
				return
			}
			if got := after(t, quota, row.header, nil); got != none {
				t.Errorf("quota: %s; a bucket is no plan", got)
			}
			if got := after(t, quota, row.header, &Reset{Buckets: true}); got != row.want {
				t.Errorf("quota with buckets: %s, want %s", got, row.want)
			}
		})
	}
}

func TestRetryAfter_what_a_row_says(t *testing.T) {
	date := &TextTime{Match: `until (\d{4}-\d\d-\d\d) (\d\d:\d\d)`, Layout: "2006-01-02 15:04", Zone: "+08:00", ElseZone: "UTC", Within: Duration(10 * time.Hour)}
	until := func(s string) string { return `{"error":{"code":"broke","message":"until ` + s + `"}}` }
	for name, row := range map[string]struct {
		body   string
		header map[string]string
		reset  Reset
		want   time.Duration
	}{
		"a default":                            {quota, nil, Reset{Default: Duration(time.Hour)}, time.Hour},
		"Retry-After beats a default":          {quota, map[string]string{"retry-after": "5"}, Reset{Default: Duration(time.Hour)}, 5 * time.Second},
		"RT-PARK Retry-After 0 beats all":      {quota, map[string]string{"retry-after": "0"}, Reset{Midnight: "UTC"}, 0},
		"a header, unix seconds":               {quota, map[string]string{"x-until": "1796043600"}, Reset{Header: []string{"X-None", "X-Until"}}, time.Hour},
		"a header that is past":                {quota, map[string]string{"x-until": "1796030000"}, Reset{Header: []string{"x-until"}}, none},
		"midnight":                             {quota, nil, Reset{Midnight: "UTC"}, 12 * time.Hour},
		"midnight by offset":                   {quota, nil, Reset{Midnight: "+08:00"}, 4 * time.Hour},
		"midnight in California":               {quota, nil, Reset{Midnight: "America/Los_Angeles"}, 20 * time.Hour},
		"the next month":                       {quota, nil, Reset{Monthly: "UTC"}, 12 * time.Hour},
		"Retry-After beats midnight":           {quota, map[string]string{"retry-after": "5"}, Reset{Midnight: "UTC"}, 5 * time.Second},
		"a row that overrides":                 {quota, map[string]string{"retry-after": "5"}, Reset{Midnight: "UTC", Override: true}, 12 * time.Hour},
		"a row that overrides, but can't":      {quota, map[string]string{"retry-after": "5"}, Reset{Header: []string{"x"}, Override: true}, 5 * time.Second},
		"a date in its zone":                   {until("2026-11-30 22:30"), nil, Reset{Text: date}, 2*time.Hour + 30*time.Minute},
		"a date that is past there":            {until("2026-11-30 15:00"), nil, Reset{Text: date}, 3 * time.Hour},
		"a date that is past everywhere":       {until("2026-11-30 11:00"), nil, Reset{Text: date}, none},
		"a date that is too far":               {until("2026-12-05 11:00"), nil, Reset{Text: date}, none},
		"a date that is none":                  {until("2026-13-45 11:00"), nil, Reset{Text: date, Default: Duration(time.Minute)}, time.Minute},
		"no date":                              {quota, nil, Reset{Text: date}, none},
		"a rate limit with a default":          {limit, nil, Reset{Default: Duration(time.Minute)}, time.Minute},
		"RT-FO-6 zero, a rate limit's default": {limit, map[string]string{"retry-after": "0"}, Reset{Default: Duration(time.Minute)}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			if got := after(t, row.body, row.header, &row.reset); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

// Only failures that end by waiting have a time; a server's fault has one if
// it sent Retry-After, which RT-FO-3 asks for.
func TestRetryAfter_of_other_categories(t *testing.T) {
	c := mustCompile(t, nil, Generic{})
	for status, want := range map[int]bool{503: true, 500: true, 529: true, 408: true, 400: false, 401: false, 404: false} {
		a := &Answer{Status: status, Header: map[string][]string{"Retry-After": {"5"}}, Now: noon}
		if f := c.Classify(a); f.HasRetryAfter != want || (want && f.RetryAfter != 5*time.Second) {
			t.Errorf("%d: %s", status, f)
		}
	}
	a := &Answer{Status: 500, Body: []byte(`{"error":{"message":"try again in 5s"}}`), Now: noon}
	if f := c.Classify(a); f.HasRetryAfter {
		t.Errorf("a server's fault takes a time from its text: %s", f)
	}
	a = &Answer{Status: 502, Header: map[string][]string{"Retry-After": {"0"}}, Now: noon}
	if f := c.Classify(a); !f.HasRetryAfter || f.RetryAfter != 0 {
		t.Errorf("Retry-After: 0 on a 502: %s", f)
	}
}
