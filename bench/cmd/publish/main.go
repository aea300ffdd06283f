// Publish judges the records of a measurement by the performance bar, keeps
// them as one JSON file, and writes the table of a page. See README.md.
package main

import (
	"flag"
	"log"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/bar"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("publish: ")
	m := bar.Meta{Date: time.Now().Format(time.DateOnly), Go: runtime.Version(), CPUs: runtime.NumCPU()}
	in := flag.String("in", "bench/bin/results.jsonl", "records of `compare`")
	out := flag.String("json", "", "write everything into this file")
	page := flag.String("page", "", "put the table between the markers of this page")
	flag.StringVar(&m.Command, "command", "make bench", "how this was measured")
	flag.StringVar(&m.Commit, "commit", "", "commit that was measured")
	flag.StringVar(&m.Nginx, "nginx", "", "version of nginx; empty if it was left out")
	flag.Float64Var(&m.MaxOther, "max-other", 10, "a run is disturbed when other work took more of the machine (percent)")
	flag.Parse()

	if err := run(&m, *in, *out, *page); err != nil {
		log.Fatal(err)
	}
}

func run(m *bar.Meta, in, out, page string) error {
	f, err := os.Open(in)
	if err != nil {
		return err
	}
	defer f.Close()
	recs, err := bar.Read(f)
	if err != nil {
		return err
	}
	m.Kernel = "Linux " + strings.TrimSpace(readFile("/proc/sys/kernel/osrelease"))
	m.CPU, m.LoadAvg = cpuModel(), strings.TrimSpace(readFile("/proc/loadavg"))
	m.Count(recs)
	rows := bar.Judge(recs, m.MaxOther)
	text := bar.Text(m, rows)
	if out != "" {
		b, err := (&bar.Results{Meta: *m, Rows: rows, Records: recs}).AppendJSON(nil)
		if err != nil {
			return err
		}
		if err := os.WriteFile(out, b, 0o644); err != nil {
			return err
		}
	}
	if page != "" {
		next, err := bar.Replace(readFile(page), text)
		if err != nil {
			return err
		}
		if err := os.WriteFile(page, []byte(next), 0o644); err != nil {
			return err
		}
	}
	_, err = os.Stdout.WriteString(text)
	return err
}

// readFile reads what is only for orientation, or is checked by who gets it.
func readFile(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

func cpuModel() string {
	for line := range strings.Lines(readFile("/proc/cpuinfo")) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
