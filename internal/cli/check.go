package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/resource"
)

func newCheck(e *environment) *cobra.Command {
	out := textOrJSON()
	var secrets bool
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Check resource documents and configuration files",
		Long: `Check resource documents and configuration files, without a server.

A FILE is a file, a folder (the .yaml and .yml files in it and below it), a glob
in quotes, or - for standard input. A file whose documents have a kind holds
resources; any other is a configuration file, which is checked with the
resources that it names. All files together are one set: what a document refers
to has to be in it.

Secret references (env:NAME, file:PATH) are checked for their form. With
--secrets they are resolved as well, which needs the variables and files of the
server.

Exit codes: 0 all is well (there may be warnings), 1 there are problems, 2 the
command line is wrong.`,
		Example: `  interlock check interlock.yaml
  interlock check resources/
  interlock check 'teams/*.yaml' providers.yaml --output json
  interlock check --secrets interlock.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("interlock check needs the files to check")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return e.check(args, secrets, out.json()) },
	}
	cmd.Flags().BoolVar(&secrets, "secrets", false, "resolve secret references too")
	out.flag(cmd)
	return cmd
}

// checkReport is what check says to programs.
type checkReport struct {
	OK        bool           `json:"ok"`
	Files     []string       `json:"files"`
	Documents int            `json:"documents"`
	Kinds     map[string]int `json:"kinds"`
	Problems  []shownProblem `json:"problems"`
	Warnings  []shownProblem `json:"warnings"`
}

func (e *environment) check(args []string, secrets, json bool) error {
	set, err := e.readSet(args, secrets)
	if err != nil {
		return err
	}
	if err := set.compile(secrets); err != nil {
		return err
	}
	set.sort()
	ok := len(set.problems) == 0
	if json {
		err = e.printJSON(checkReport{ok, set.files, len(set.docs), set.kinds(), showProblems(set.problems), showProblems(set.warnings)})
	} else {
		e.printProblems(e.out, set.problems, set.warnings)
		e.printSummary(set)
	}
	if err == nil && !ok {
		return errReported
	}
	return err
}

func (e *environment) printSummary(set *documentSet) {
	in := " in " + count(len(set.files), "file")
	if n := len(set.problems); n > 0 {
		fmt.Fprintf(e.out, "\n%s%s\n", e.paint(red, count(n, "problem")), in)
		return
	}
	if len(set.warnings) > 0 {
		fmt.Fprintln(e.out)
	}
	fmt.Fprintf(e.out, "%s: %s%s%s\n", e.paint(green, "OK"), count(len(set.docs), "document"), in, set.listKinds())
}

// kinds counts the documents of each kind.
func (s *documentSet) kinds() map[string]int {
	out := map[string]int{}
	for _, d := range s.docs {
		out[d.Object.Head().Kind]++
	}
	return out
}

// listKinds says how many of each kind there are: " (2 Provider, 1 Route)".
func (s *documentSet) listKinds() string {
	var parts []string
	n := s.kinds()
	for _, k := range resource.Kinds() {
		if n[k.Name] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[k.Name], k.Name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
