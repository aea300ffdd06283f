package failure

import (
	"strconv"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func mustCompile(tb testing.TB, vendor []Signal, generic Generic) *Classifier {
	tb.Helper()
	c, err := Compile(vendor, generic)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Chapter 30's table, for answers that no vendor row knows.
func TestClassify_by_status_alone(t *testing.T) {
	c := mustCompile(t, nil, Generic{})
	for id, row := range map[string]struct {
		statuses []int
		want     Category
	}{
		"RT-FO-TIME 408":                    {[]int{408}, Timeout},
		"RT-FO-5XX 409 and 5xx":             {[]int{409, 500, 501, 502, 503, 504, 520, 523, 524, 599}, ServerError},
		"RT-FO-5XX 529 is overloaded":       {[]int{529}, Overloaded},
		"RT-FO-5XX a redirect is the URL's": {[]int{301, 302, 307, 308}, ServerError},
		"RT-FO-429":                         {[]int{429}, RateLimit},
		"RT-FO-AUTH":                        {[]int{401, 403}, Auth},
		"RT-FO-404":                         {[]int{404}, ModelUnavailable},
		"RT-FO-4XX other 4xx":               {[]int{400, 405, 406, 410, 411, 412, 413, 414, 415, 418, 422, 424, 431, 451, 498, 499}, RequestError},
		"payment is quota":                  {[]int{402}, QuotaExhausted},
		"no status is the server's fault":   {[]int{0, 200, 204, 999, -1}, ServerError},
	} {
		t.Run(id, func(t *testing.T) {
			for _, status := range row.statuses {
				for _, body := range []string{"", "nonsense", `{"error":{"message":"no"}}`, `{`, `null`, `[]`} {
					f, why := c.Explain(&Answer{Status: status, Body: []byte(body), Now: noon})
					if f != (Failure{Category: row.want, Status: status}) || why != ByStatus {
						t.Errorf("%d %s: %v by %s, want %s", status, body, f, why, row.want)
					}
				}
			}
		})
	}
}

func TestClassify_RT_FO_AUTH_a_page_with_403_is_not_the_key(t *testing.T) {
	c := mustCompile(t, nil, Generic{})
	page := "<!DOCTYPE html>\n<html><title>Just a moment...</title>"
	for status, want := range map[int]Category{403: ServerError, 503: ServerError, 401: Auth, 404: ModelUnavailable, 429: RateLimit} {
		if f := c.Classify(&Answer{Status: status, Body: []byte(page), Now: noon}); f.Category != want {
			t.Errorf("%d: %s, want %s", status, f, want)
		}
	}
}

// A page of a proxy is not the vendor speaking, whatever words are on it.
func TestClassify_no_row_reads_a_page(t *testing.T) {
	c := mustCompile(t, []Signal{{ID: "credit", Text: []string{"insufficient credit"}, Category: QuotaExhausted}, {ID: "any403", Status: []int{403}, Category: RequestError}}, Generic{})
	for _, status := range []int{403, 503} {
		a := &Answer{Status: status, Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte("insufficient credit"), Now: noon}
		if f, why := c.Explain(a); f.Category != ServerError || why != ByStatus {
			t.Errorf("%s: %s by %s", strconv.Itoa(status), f, why)
		}
	}
}
