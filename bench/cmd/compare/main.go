// Compare runs a suite of scenarios against several servers, or turns its
// results into Markdown tables. See README.md.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/interlock-gateway/interlock/bench/internal/suite"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("compare: ")
	file := flag.String("suite", "suite.json", "suite file")
	out := flag.String("o", "results.jsonl", "results file to append to")
	report := flag.String("report", "", "print tables of this results file instead of running")
	targets := flag.String("targets", "", "run only these targets, by name (comma-separated)")
	without := flag.String("without", "", "leave out these targets")
	scenarios := flag.String("scenarios", "", "run only these scenarios")
	rounds := flag.Int("rounds", 0, "rounds, if not those in the suite file")
	maxOther := flag.Float64("max-other", 10, "in a report, leave out runs in which other work took more of the machine (percent)")
	baseline := flag.String("baseline", "", "in a report, add a table of ratios to this target")
	profiles := flag.String("profile", "", "keep CPU profiles in this folder, of targets that can make them")
	warmup := flag.Duration("warmup", 0, "time before each run, if not that in the suite file")
	duration := flag.Duration("duration", 0, "measured time of each run, if not that in the suite file")
	flag.Parse()

	if *report != "" {
		f, err := os.Open(*report)
		if err != nil {
			log.Fatal(err)
		}
		if err := suite.Report(f, os.Stdout, suite.ReportOptions{MaxOther: *maxOther, Baseline: *baseline}); err != nil {
			log.Fatal(err)
		}
		return
	}
	s, err := suite.Load(*file)
	if err != nil {
		log.Fatal(err)
	}
	if *rounds > 0 {
		s.Rounds = *rounds
	}
	s.ProfileDir = *profiles
	if *warmup > 0 {
		s.Warmup = suite.Duration(*warmup)
	}
	if *duration > 0 {
		s.Duration = suite.Duration(*duration)
	}
	absent := func(t suite.Target) bool { return slices.Contains(strings.Split(*without, ","), t.Name) }
	s.Targets = slices.DeleteFunc(s.Targets, absent)
	s.Targets = slices.DeleteFunc(s.Targets, func(t suite.Target) bool { return !wanted(*targets, t.Name) })
	s.Scenarios = slices.DeleteFunc(s.Scenarios, func(sc suite.Scenario) bool { return !wanted(*scenarios, sc.Name) })
	f, err := os.OpenFile(*out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := s.Run(ctx, f, os.Stderr); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}

func wanted(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}
