// Gostat sums up the output of `go test -bench -count N` as benchstat does: for
// each benchmark the median time and how far the others are from it, bytes and
// allocations.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/suite"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gostat: ")
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// result is one benchmark with its values by unit, one for each time it ran.
type result struct {
	name   string
	values map[string][]float64
}

// cores is what Go appends to names when it has more than one.
var cores = regexp.MustCompile(`-\d+$`)

func run(in io.Reader, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var results []*result
	failed := false
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		switch fields := strings.Fields(line); {
		case strings.HasPrefix(line, "pkg: "):
			write(w, results)
			results = nil
			fmt.Fprintf(w, "\n%s\ttime/op\t±\tbytes/op\tallocs/op\t\n", line)
		case strings.HasPrefix(line, "Benchmark") && len(fields) >= 4:
			results = add(results, fields)
		case strings.HasPrefix(line, "goos:"), strings.HasPrefix(line, "goarch:"), strings.HasPrefix(line, "ok "), line == "PASS":
		default:
			failed = failed || strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "--- FAIL")
			fmt.Fprintln(w, line)
		}
	}
	write(w, results)
	if err := w.Flush(); err != nil {
		return err
	}
	if failed {
		return fmt.Errorf("some benchmarks failed")
	}
	return sc.Err()
}

// add enters a line such as "BenchmarkX-2 100 12.5 ns/op 0 B/op 0 allocs/op".
func add(results []*result, fields []string) []*result {
	name := strings.TrimPrefix(cores.ReplaceAllString(fields[0], ""), "Benchmark")
	i := slices.IndexFunc(results, func(r *result) bool { return r.name == name })
	if i < 0 {
		i, results = len(results), append(results, &result{name, map[string][]float64{}})
	}
	for j := 2; j+1 < len(fields); j += 2 {
		if v, err := strconv.ParseFloat(fields[j], 64); err == nil {
			unit := fields[j+1]
			results[i].values[unit] = append(results[i].values[unit], v)
		}
	}
	return results
}

func write(w io.Writer, results []*result) {
	for _, r := range results {
		times := r.values["ns/op"]
		mid, off := median(times), 0.0
		for _, v := range times {
			off = max(off, math.Abs(v-mid))
		}
		spread := "∞" // one run says nothing of it
		if len(times) > 1 && mid > 0 {
			spread = fmt.Sprintf("%.0f%%", 100*off/mid)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\t%.0f\t\n", r.name, duration(mid), spread, median(r.values["B/op"]), median(r.values["allocs/op"]))
	}
}

func median(vs []float64) float64 { return suite.Median(vs, func(v float64) float64 { return v }) }

func duration(ns float64) string {
	if ns < 1000 {
		return fmt.Sprintf("%.3gns", ns)
	}
	d := time.Duration(ns)
	return d.Round(max(1, time.Duration(math.Pow10(int(math.Log10(ns))-2)))).String()
}
