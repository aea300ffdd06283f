package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/load"
	"github.com/interlock-gateway/interlock/bench/internal/mock"
)

// The test binary doubles as the mock and as the target it starts.
func TestMain(m *testing.M) {
	if addr := os.Getenv("SUITE_TEST_LISTEN"); addr != "" {
		serve(addr)
	}
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		serve(os.Args[2])
	}
	os.Exit(m.Run())
}

func serve(addr string) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		err = mock.New(mock.DefaultOptions()).Serve(l)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestRunAndReport(t *testing.T) {
	mockAddr, addr := freeAddr(t), freeAddr(t)
	file := filepath.Join(t.TempDir(), "suite.json")
	text := fmt.Sprintf(`{
		"mock": {"command": [%[1]q, "serve", %[2]q], "url": "http://%[2]s"},
		"warmup": "20ms", "duration": "200ms", "rounds": 2, "settle": "10ms", "quiet": {"max_other_percent": 100, "wait": "20ms"},
		"targets": [
			{"name": "direct", "url": "http://%[2]s/v1/chat/completions", "model": "m"},
			{"name": "other", "command": [%[1]q], "env": {"SUITE_TEST_LISTEN": %[3]q}, "binary": %[1]q,
			 "url": "http://%[3]s/v1/chat/completions", "model": "m"}
		],
		"scenarios": [
			{"name": "c2", "concurrency": 2, "size": 512},
			{"name": "open", "concurrency": 4, "size": 512, "rate": 100, "targets": ["direct"]},
			{"name": "failing", "concurrency": 1, "size": 512, "mock": "error=500"},
			{"name": "stream", "concurrency": 2, "size": 512, "stream": true, "mock": "chunks=3,stamp=1"},
			{"name": "start", "starts": 2}
		]}`, os.Args[0], mockAddr, addr)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var out, progress, report bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Run(ctx, &out, &progress); err != nil {
		t.Fatal(err)
	}
	// Each round: four runs of the mock itself, three of the other with a start
	// each, and two starts without load.
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 2*(4+3*2+2) {
		t.Errorf("%d records\n%s", n, progress.String())
	}
	if err := Report(&out, &report, ReportOptions{MaxOther: 100, Baseline: "direct"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### start", "### c2", "### open", "| direct |", "| other |", "CPU us/chunk", "### ratios to direct", "| other, again |", "| stream | other |"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("no %q in the report\n%s", want, report.String())
		}
	}
}

func TestATargetThatEndsIsReported(t *testing.T) {
	mockAddr := freeAddr(t)
	s := &Suite{
		Mock:    Mock{Command: []string{os.Args[0], "serve", mockAddr}, URL: "http://" + mockAddr},
		Targets: []Target{{Name: "broken", Command: []string{os.Args[0], "serve", "nowhere"}, URL: "http://127.0.0.1:1/", Model: "m"}},
		Rounds:  1, Scenarios: []Scenario{{Name: "c1", Concurrency: 1}},
	}
	var out, progress bytes.Buffer
	if err := s.Run(t.Context(), &out, &progress); err == nil || !strings.Contains(err.Error(), "broken, round 0") {
		t.Errorf("got %v", err)
	}
	if out.Len() != 0 || !strings.Contains(progress.String(), "ended: listen tcp") {
		t.Errorf("progress %q", progress.String())
	}
}

func TestMedian(t *testing.T) {
	id := func(v float64) float64 { return v }
	for want, in := range map[float64][]float64{0: nil, 2: {3, 1, 2}, 2.5: {4, 1, 3, 2}} {
		if got := Median(in, id); got != want {
			t.Errorf("%v: got %v", in, got)
		}
	}
}

func TestReportPrefersQuietRuns(t *testing.T) {
	var rs []*load.Result
	for _, other := range []float64{40, 3, 8, 60} {
		rs = append(rs, &load.Result{Host: load.HostLoad{Other: other}})
	}
	if got := quiet(rs, 10); len(got) != 2 || got[0].Host.Other != 3 || got[1].Host.Other != 8 {
		t.Errorf("got %d runs", len(got))
	}
	if got := quiet(rs, 1); len(got) != 1 || got[0].Host.Other != 3 {
		t.Errorf("got %d runs, want the quietest", len(got))
	}
}

func TestRatiosToTheBaseline(t *testing.T) {
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	add := func(target, scenario string, cpuSeconds float64, stream bool) {
		run := &load.Result{
			Config: load.Config{Stream: stream}, EventsSeen: 1000,
			Processes: map[string]load.Process{"target": {CPUPerRequest: cpuSeconds * 100, CPUSeconds: cpuSeconds}},
		}
		if err := enc.Encode(Record{Target: target, Scenario: scenario, Run: run}); err != nil {
			t.Fatal(err)
		}
	}
	for _, cpu := range []float64{1, 2, 9} { // the median counts
		add("floor", "plain", cpu, false)
		add("gateway", "plain", cpu*1.5, false)
	}
	add("floor", "paced", 2, true)
	add("gateway", "paced", 3, true)
	add("gateway", "alone", 3, false) // nothing to compare with
	text := in.String()
	var out bytes.Buffer
	if err := Report(strings.NewReader(text), &out, ReportOptions{MaxOther: 10, Baseline: "floor"}); err != nil {
		t.Fatal(err)
	}
	_, ratios, _ := strings.Cut(out.String(), "### ratios to floor\n")
	for _, want := range []string{"| plain | gateway | 1.50 | – | – |", "| paced | gateway | 1.50 | 1.50 | – |"} {
		if !strings.Contains(ratios, want) {
			t.Errorf("no %q in\n%s", want, ratios)
		}
	}
	if strings.Contains(ratios, "alone") {
		t.Errorf("a ratio without a baseline in\n%s", ratios)
	}
	if !strings.Contains(out.String(), "| 3000 |") { // 3 s of CPU for 1000 chunks
		t.Errorf("no CPU per chunk in\n%s", out.String())
	}
	if err := Report(strings.NewReader(text), &out, ReportOptions{Baseline: "nobody"}); err == nil {
		t.Error("a baseline without results was accepted")
	}
}

func TestAServerThatIsThereAlreadyIsNotMeasured(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go mock.New(mock.DefaultOptions()).Serve(l)
	addr := l.Addr().String()
	s := &Suite{
		Mock:    Mock{Command: []string{os.Args[0], "serve", addr}, URL: "http://" + addr},
		Targets: []Target{{Name: "direct", URL: "http://" + addr + "/v1/chat/completions", Model: "m"}},
		Rounds:  1, Scenarios: []Scenario{{Name: "c1", Concurrency: 1}},
	}
	if err := s.Run(t.Context(), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "another server answers") {
		t.Errorf("got %v", err)
	}
}

func TestTheWholeRunIsAccountedFor(t *testing.T) {
	w := beginWhole(os.Getpid())
	got := w.end(t.Context(), 7)
	if got == nil || got.Requests != 7 || got.CPUSeconds < got.TailSeconds || got.TailSeconds < 0 {
		t.Errorf("got %+v", got)
	}
	if beginWhole(0).end(t.Context(), 1) != nil {
		t.Error("the mock itself has a cost of its own")
	}
}

func TestProfilesAreNamedAfterWhatTheyShow(t *testing.T) {
	got := profileFile("/p", &Target{Name: "bare"}, &Scenario{Name: "open loop 1000/s"}, 2)
	if got != "/p/bare_open-loop-1000-s_2.prof" {
		t.Error(got)
	}
}
