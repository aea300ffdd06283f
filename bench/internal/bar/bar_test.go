package bar

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/bench/internal/hist"
	"github.com/interlock-gateway/interlock/bench/internal/load"
	"github.com/interlock-gateway/interlock/bench/internal/suite"
)

func run(target, scenario string, round int, cpu, p50, other float64) suite.Record {
	return suite.Record{Target: target, Scenario: scenario, Round: round, Run: &load.Result{
		Seconds: 3, Requests: 1000, Processes: map[string]load.Process{"target": {CPUPerRequest: cpu}},
		Latency: &hist.Summary{P50: p50}, Host: load.HostLoad{Other: other},
	}}
}

func row(t *testing.T, rows []Row, prefix string) *Row {
	t.Helper()
	for i := range rows {
		if strings.HasPrefix(rows[i].Work, prefix) {
			return &rows[i]
		}
	}
	t.Fatalf("no row %q", prefix)
	return nil
}

func TestRatiosAreTakenWithinRounds(t *testing.T) {
	var recs []suite.Record
	for round, slow := range []float64{1, 1.5, 3} { // the machine drifts
		recs = append(recs, run(floor, "c16 0.5 KB", round, 40*slow, 0, 0), run(routes, "c16 0.5 KB", round, 56*slow, 0, 0), run(bare, "c16 0.5 KB", round, 48*slow, 0, 0))
	}
	r := row(t, Judge(recs, 10), "CPU µs per request, 0.5 KB")
	if r.Ratio.Min < 1.399 || r.Ratio.Max > 1.401 || r.Bare.Median < 1.199 || r.Bare.Median > 1.201 {
		t.Errorf("got %+v and %+v, want 1.4 and 1.2 in every round", *r.Ratio, *r.Bare)
	}
	if r.Figures[routes].Median != 84 || r.Met == nil || !*r.Met {
		t.Errorf("got %+v, met %v", r.Figures[routes], r.Met)
	}
}

func TestDisturbedRunsDoNotCountWhereEnoughAreLeft(t *testing.T) {
	recs := []suite.Record{run(floor, "c16 10 KB", 9, 10, 0, 50), run(routes, "c16 10 KB", 9, 99, 0, 50)}
	for round := range enough {
		recs = append(recs, run(floor, "c16 10 KB", round, 10, 0, 2), run(routes, "c16 10 KB", round, 11, 0, 2))
	}
	if r := row(t, Judge(recs, 10), "CPU µs per request, 10 KB"); r.Ratio.Rounds != enough || r.Ratio.Max > 1.2 {
		t.Errorf("got %+v", *r.Ratio)
	}
	if r := row(t, Judge(recs[:4], 10), "CPU µs per request, 10 KB"); r.Ratio.Rounds != 2 {
		t.Errorf("got %+v, want the disturbed one as well", *r.Ratio)
	}
	for _, broken := range []load.Result{{Errors: 1, Requests: 1}, {Requests: 0}} {
		recs[2].Run.Errors, recs[2].Run.Requests = broken.Errors, broken.Requests
		if r := row(t, Judge(recs[2:4], 10), "CPU µs per request, 10 KB"); r.Ratio != nil || r.Met != nil {
			t.Errorf("a run with %d errors and %d answers counts", broken.Errors, broken.Requests)
		}
	}
}

func TestAddedLatencyIsOverDirectInTheSameRound(t *testing.T) {
	recs := []suite.Record{
		run(direct, "1 connection", 0, 0, 30, 0), run(floor, "1 connection", 0, 0, 130, 0), run(routes, "1 connection", 0, 0, 150, 0),
	}
	r := row(t, Judge(recs, 10), "latency added")
	if r.Figures[floor].Median != 100 || r.Ratio.Median != 1.2 || *r.Met {
		t.Errorf("got %+v, ratio %+v", r.Figures[floor], r.Ratio)
	}
}

func TestStartsAndGrowth(t *testing.T) {
	start := func(nth int, ms float64) suite.Record {
		return suite.Record{Target: "routes-1000", Scenario: "start", Start: &suite.Start{Nth: nth, ReadyMS: ms}}
	}
	rows := Judge([]suite.Record{
		start(0, 500), start(1, 90),
		run("routes-10", "growth", 0, 50, 0, 0), run("routes-10000", "growth", 0, 60, 0, 0),
	}, 10)
	if r := row(t, rows, "ready after start"); r.Met == nil || !*r.Met || r.Figures["routes-1000"].Median != 90 {
		t.Errorf("got %+v", r)
	}
	grown := row(t, rows, "growth")
	if grown.Met == nil || *grown.Met || !strings.Contains(grown.line(), "| 50.0 → 60.0 | 1.20 |") {
		t.Error(grown.line())
	}
}

func TestThePageKeepsWhatPeopleWrote(t *testing.T) {
	recs := []suite.Record{run(floor, "c16 0.5 KB", 0, 40, 0, 0), run(routes, "c16 0.5 KB", 0, 80, 0, 50)}
	m := &Meta{Date: "2026-11-30", Command: "make bench", Commit: "abc", MaxOther: 10}
	m.Count(recs)
	text := Text(m, Judge(recs, 10))
	for _, want := range []string{"not a result", "1 of 2 runs were undisturbed", "no nginx", "| 40.0 | – | – | 80.0 | 2.00 | 2.00–2.00 | ≤ 1.50 × floor | **no** |", "not measured"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	got, err := Replace("before\n"+begin+"old\n"+end+"after\n", text)
	if err != nil || !strings.HasPrefix(got, "before\n"+begin) || !strings.HasSuffix(got, end+"after\n") || strings.Contains(got, "old\n") {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := Replace("no markers", text); err == nil {
		t.Error("a page without markers was taken")
	}
}

// The rows name scenarios and targets; the suite must have them, with a
// profile for no other than Interlock.
func TestTheSuiteHasWhatTheBarNames(t *testing.T) {
	s, err := suite.Load("../../suite.json")
	if err != nil {
		t.Fatal(err)
	}
	has := func(scenario, target string) bool {
		return slices.ContainsFunc(s.Scenarios, func(sc suite.Scenario) bool {
			return sc.Name == scenario && slices.Contains(sc.Targets, target)
		}) && slices.ContainsFunc(s.Targets, func(t suite.Target) bool { return t.Name == target })
	}
	for _, w := range Works() {
		if !has(w.Scenario, w.subject()) || !has(w.Scenario, w.base()) {
			t.Errorf("%s: the suite lacks %s or %s in %q", w.Name, w.subject(), w.base(), w.Scenario)
		}
	}
	page, err := os.ReadFile("../../../docs/explanation/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replace(string(page), ""); err != nil {
		t.Error(err)
	}
}

func TestResultsReadBack(t *testing.T) {
	b, err := json.Marshal(run(floor, "x", 0, 1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	recs, err := Read(strings.NewReader(string(b) + "\n" + string(b) + "\n"))
	if err != nil || len(recs) != 2 || recs[1].Run.Host.Other != 3 {
		t.Fatalf("%v, %d records", err, len(recs))
	}
	file, err := (&Results{Meta: Meta{Commit: "abc"}, Rows: Judge(recs, 10), Records: recs}).AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back Results
	if err := json.Unmarshal(file, &back); err != nil || back.Meta.Commit != "abc" || len(back.Rows) != len(Works()) || len(back.Records) != 2 {
		t.Errorf("%v\n%s", err, file)
	}
}
