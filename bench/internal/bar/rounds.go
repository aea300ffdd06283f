package bar

import (
	"fmt"
	"maps"
	"slices"

	"github.com/interlock-gateway/interlock/bench/internal/suite"
)

// rounds are the figures of one row by target and round.
type rounds map[string]map[int]float64

// enough is how many undisturbed rounds a row must have for the disturbed ones
// to be left out: of fewer there is no median to speak of.
const enough = 3

// collect takes a row's figures out of the records.
func (w *Work) collect(recs []suite.Record, maxOther float64) rounds {
	calm, all := rounds{}, rounds{}
	for i := range recs {
		r := &recs[i]
		if r.Scenario != w.Scenario {
			continue
		}
		v, ok := w.Value(r)
		if !ok || r.Run != nil && (r.Run.Errors > 0 || r.Run.Requests == 0) {
			continue // a run with errors, or without an answer, measured something else
		}
		all.put(r.Target, r.Round, v)
		if r.Run == nil || r.Run.Host.Other <= maxOther {
			calm.put(r.Target, r.Round, v)
		}
	}
	if w.OverDirect {
		calm, all = calm.over(direct), all.over(direct)
	}
	if len(calm.ratios(w.subject(), w.base())) >= enough {
		return calm
	}
	return all
}

func (rs rounds) put(target string, round int, v float64) {
	if rs[target] == nil {
		rs[target] = map[int]float64{}
	}
	rs[target][round] = v // the last one, if a disturbed run was repeated
}

// over is what each target adds to the figure of another in the same round.
func (rs rounds) over(base string) rounds {
	out := rounds{}
	for t, of := range rs {
		for n, v := range of {
			if b, ok := rs[base][n]; ok && t != base {
				out.put(t, n, v-b)
			}
		}
	}
	return out
}

// of lists a target's figures in the order of the rounds.
func (rs rounds) of(target string) []float64 {
	var out []float64
	for _, n := range slices.Sorted(maps.Keys(rs[target])) {
		out = append(out, rs[target][n])
	}
	return out
}

// ratios are of rounds that have both.
func (rs rounds) ratios(a, b string) []float64 {
	var out []float64
	for _, n := range slices.Sorted(maps.Keys(rs[a])) {
		if base := rs[b][n]; base > 0 {
			out = append(out, rs[a][n]/base)
		}
	}
	return out
}

func (w *Work) bar() string {
	switch {
	case w.MaxRatio > 0 && w.Base != "":
		return fmt.Sprintf("flat: ≤ %.2f ×", w.MaxRatio)
	case w.MaxRatio > 0:
		return fmt.Sprintf("≤ %.2f × floor", w.MaxRatio)
	case w.Max > 0:
		return fmt.Sprintf("≤ %.0f %s", w.Max, w.Unit)
	}
	return ""
}
