// Command speccoverage lists requirements that no test names.
//
// It reads docs/spec-ids.md, which has every requirement's id, the steps that
// build it and a line that says which steps are finished, and looks for the
// ids in tests: in names of test functions, in string literals of Go tests,
// in the heads of scenario files and in titles of browser tests.
//
// It exits with 1 if a finished step has an id that no test names, or if a
// test names an id that the page does not have.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, errOut io.Writer) int {
	fs := flag.NewFlagSet("speccoverage", flag.ContinueOnError)
	fs.SetOutput(errOut)
	root := fs.String("root", ".", "folder of the repository")
	step := fs.Int("step", 0, "as if all steps up to this one were finished")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	page, err := readPage(filepath.Join(*root, "docs", "spec-ids.md"))
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "spec-coverage:", err)
		return 2
	}
	for n := 1; n <= *step; n++ {
		page.finished[n] = true
	}
	named, err := scan(*root, page)
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "spec-coverage:", err)
		return 2
	}
	return report(page, named, out, errOut)
}

// report writes what is wrong to out and the sum to errOut.
func report(page *page, found *findings, out, errOut io.Writer) int {
	due, missing := 0, 0
	for _, r := range page.rows {
		if !page.due(r) {
			continue
		}
		due++
		if !found.named[r.id] {
			missing++
			_, _ = fmt.Fprintf(out, "%s\tno test names it: %s\n", r.id, r.text)
		}
	}
	for _, u := range found.unknown {
		_, _ = fmt.Fprintf(out, "%s\t%s names it, but docs/spec-ids.md does not have it\n", u.id, u.place)
	}
	_, _ = fmt.Fprintf(errOut, "spec-coverage: finished steps: %s; tests name %d of %d ids that are due\n",
		page.finishedText(), due-missing, due)
	if missing > 0 || len(found.unknown) > 0 {
		return 1
	}
	return 0
}
