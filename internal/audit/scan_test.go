package audit

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// agree checks that a scanner that does not give up finds what encoding/json
// does.
func agree(tb rapid.TB, s *scanner, data []byte) (scanned bool) {
	tb.Helper()
	got, scanned := s.scan(data)
	if !scanned {
		return false
	}
	want, ok := decode(data)
	if !ok || !reflect.DeepEqual(got, want) {
		tb.Fatalf("%s\nscanned %+v\ndecoded %+v, %v", data, got, want, ok)
	}
	return true
}

// TestScannerAgreesWithJSON: for every record that AppendJSON can write. None
// without escapes in a searched text, or before it, goes the slow way.
func TestScannerAgreesWithJSON(t *testing.T) {
	var s scanner
	rapid.Check(t, func(t *rapid.T) {
		r := *full()
		text := rapid.OneOf(rapid.SampledFrom([]string{"", "", "a", "claude-x", "名前", "a b:c,d}"}), rapid.StringN(0, 9, -1))
		var front strings.Builder
		for _, f := range []*string{
			&r.Kind, &r.RequestID, &r.Outcome, &r.Policy, &r.Code, &r.Category, &r.Caller.Key, &r.Caller.User, &r.Caller.Team, &r.Caller.Department,
			&r.Caller.Source, &r.Caller.Workload, &r.SessionHash, &r.Endpoint, &r.ClientFormat, &r.RequestedModel, &r.ServedModel, &r.WireModel, &r.RouteName, &r.Provider,
		} {
			*f = text.Draw(t, "text")
			front.WriteString(*f)
		}
		for _, f := range []*string{&r.Residency, &r.Strategy, &r.StrategyReason, &r.Credential, &r.Message} {
			*f = text.Draw(t, "text behind")
		}
		r.Status = rapid.SampledFrom([]int{0, 200, 502, 1}).Draw(t, "status")
		r.Time = time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "time")).UTC()
		r.Stream, r.Estimated, r.CredentialFallback = rapid.Bool().Draw(t, "stream"), rapid.Bool().Draw(t, "estimated"), rapid.Bool().Draw(t, "fallback")
		for _, drop := range []func(){
			func() { r.Attempts = nil }, func() { r.Skips = nil }, func() { r.Tags = nil }, func() { r.Facts = nil }, func() { r.Admin = nil }, func() { r.Usage = llm.Usage{} },
			func() { r.TTFT, r.Duration, r.ConfigVersion, r.Retries = 0, 0, 0, 0 }, func() { r.Caller = Caller{} },
		} {
			if rapid.Bool().Draw(t, "drop") {
				drop()
			}
		}
		data := r.AppendJSON(nil)
		escaped := bytes.ContainsRune(appendText(nil, front.String()), '\\')
		if scanned := agree(t, &s, data); !scanned && !escaped {
			t.Fatalf("the scanner gave up on %s", data)
		}
	})
}

// TestScannerGivesUp: on what AppendJSON does not write, it leaves the record
// to encoding/json.
func TestScannerGivesUp(t *testing.T) {
	const front = `{"kind":"request","time":"2026-01-02T03:04:05.000006Z"`
	for name, data := range map[string]string{
		"another order":         front + `,"provider":"p","outcome":"allow"}`,
		"an unknown field":      front + `,"new":1,"provider":"p"}`,
		"an escape":             front + `,"requestId":"a\u0041"}`,
		"white space":           front + `, "provider":"p"}`,
		"another time":          strings.Replace(front, ".000006Z", "Z", 1) + `}`,
		"no such day":           strings.Replace(front, "01-02", "02-30", 1) + `}`,
		"no such hour":          strings.Replace(front, "T03", "T24", 1) + `}`,
		"a field of its object": front + `,"caller":{"name":"x"}}`,
		"a status in front":     front + `,"status":0200}`,
		"a text as status":      front + `,"status":"200"}`,
		"a control character":   front + `,"code":"` + "\x01" + `"}`,
		"no UTF-8":              front + `,"code":"` + "\xff" + `"}`,
		"no end":                front,
		"a half text":           front + `,"code":"x`,
		"something behind it":   front + `}x`,
		"a half field behind":   front + `,"residency":"eu`,
		"nothing":               ``,
		"an empty object":       `{}`,
	} {
		var s scanner
		if r, ok := s.scan([]byte(data)); ok {
			t.Errorf("%s: %s is %+v", name, data, r)
		}
	}
	var s scanner
	for _, data := range []string{front + `}`, front + `,"residency":"eu"}`, front + `,"caller":{"user":"u","team":"t"},"usage":{"input":1}}`} {
		if !agree(t, &s, []byte(data)) {
			t.Errorf("the scanner gave up on %s", data)
		}
	}
}

// TestScannerForgets: what callers can make up does not stay in memory.
func TestScannerForgets(t *testing.T) {
	var s scanner
	r := sample()
	for i := range 3 * maxKnown {
		r.RequestedModel = strings.Repeat("m", i%9) + time.UnixMicro(int64(i)).String()
		agree(t, &s, r.AppendJSON(nil))
	}
	if len(s.known) > maxKnown {
		t.Errorf("%d texts are kept", len(s.known))
	}
}

// TestScannerAllocates: one request id for each record.
func TestScannerAllocates(t *testing.T) {
	var s scanner
	data := sample().AppendJSON(nil)
	if n := testing.AllocsPerRun(100, func() {
		if _, ok := s.scan(data); !ok {
			t.Fatal("the scanner gave up")
		}
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzScanner(f *testing.F) {
	f.Add(sample().AppendJSON(nil))
	f.Add(full().AppendJSON(nil))
	f.Add([]byte(`{"kind":"event","time":"2026-01-02T03:04:05.000006Z","message":"m"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s scanner
		got, ok := s.scan(data)
		want, valid := decode(data)
		// What comes behind the searched fields is not looked at; the checksum
		// of the line vouches for it.
		if ok && valid && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nscanned %+v\ndecoded %+v", data, got, want)
		}
	})
}
