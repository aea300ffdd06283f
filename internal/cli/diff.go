package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	files, against []string
	server         string
	prune, json    bool
}

func newDiff(e *environment) *cobra.Command {
	var o diffOptions
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:   "diff -f PATH",
		Short: "Show what applying documents would change",
		Long: `Show what applying documents would change on a server, field by field. Nothing
is written. Secrets are masked.

What the server has and the documents do not is left alone, or deleted with
--prune.

With --against the documents are compared with those of other files instead of
a server; there, what the documents do not have counts as deleted.

PATH is a file, a folder, a glob in quotes, or - for standard input. Of a
configuration file, the resources that it names are taken.

Exit codes: 0 nothing would change, 1 something would change, or the documents
have problems, 2 the command line is wrong.`,
		Example: `  interlock diff -f resources/
  interlock diff -f resources/ --prune --output json
  interlock diff -f resources/ --against last-release.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.json = out.json()
			if len(o.files) == 0 {
				return usagef("interlock diff needs the documents: -f PATH")
			}
			if len(o.against) > 0 {
				if cmd.Flags().Changed("server") {
					return usagef("--against compares with files and --server with a server; choose one")
				}
				return e.diffFiles(cmd.Context(), o)
			}
			return e.diffServer(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	filesFlag(cmd, &o.files)
	f.StringArrayVar(&o.against, "against", nil, "compare with the documents at `PATH` instead of a server; can be repeated")
	f.BoolVar(&o.prune, "prune", false, "delete what is not among the documents")
	serverFlag(cmd, &o.server)
	out.flag(cmd)
	return cmd
}

// filesFlag adds -f to a command.
func filesFlag(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVarP(files, "file", "f", nil, "the documents at `PATH`: a file, a folder, a glob in quotes, or - for standard input; can be repeated")
}

// diffReport is what diff says to programs.
type diffReport struct {
	Different bool           `json:"different"`
	Summary   totals         `json:"summary"`
	Changes   []control.Diff `json:"changes"`
}

func (e *environment) diffServer(ctx context.Context, o diffOptions) error {
	_, p, err := e.planImport(ctx, o.files, o.server, o.prune, o.json)
	if err != nil {
		return err
	}
	return e.reportDiff(p, o.json)
}

// planImport reads documents and asks a server what importing them would
// change.
func (e *environment) planImport(ctx context.Context, files []string, server string, prune, json bool) (*importer, *plan, error) {
	set, err := e.readSet(files, false)
	if err != nil {
		return nil, nil, err
	}
	if len(set.problems) > 0 {
		return nil, nil, e.refuse(set, json)
	}
	c, err := e.connect(server)
	if err != nil {
		return nil, nil, err
	}
	set.sort()
	e.printProblems(e.err, nil, set.warnings)
	if len(set.configs) > 0 {
		fmt.Fprintf(e.err, "Of %s only the resources are taken; settings are of the process that reads the file.\n", set.configs[0])
	}
	i, err := c.newImporter(ctx, set, prune)
	if err != nil {
		return nil, nil, err
	}
	p, err := i.run(ctx, true)
	if err != nil {
		return nil, nil, e.importFailed(i, err, json)
	}
	return i, p, nil
}

// importFailed reports what a server finds wrong with documents.
func (e *environment) importFailed(i *importer, err error, json bool) error {
	if _, ok := errors.AsType[resource.Problems](err); ok {
		return e.refuse(i.set, json)
	}
	return err
}

func (e *environment) diffFiles(ctx context.Context, o diffOptions) error {
	before, err := e.readSet(o.against, false)
	if err != nil {
		return err
	}
	after, err := e.readSet(o.files, false)
	if err != nil {
		return err
	}
	if err := after.compile(false); err != nil {
		return err
	}
	for _, set := range []*documentSet{before, after} {
		if len(set.problems) > 0 {
			return e.refuse(set, o.json)
		}
	}
	p, err := e.compare(ctx, before, after)
	if err != nil {
		return err
	}
	return e.reportDiff(p, o.json)
}

func (e *environment) reportDiff(p *plan, json bool) error {
	different := len(p.Changes) > 0
	switch {
	case json:
		if err := e.printJSON(diffReport{different, p.totals(), notNull(p.Changes)}); err != nil {
			return err
		}
	case different:
		e.printPlan(p)
		fmt.Fprintf(e.out, "\n%s.\n", p.totals())
	default:
		fmt.Fprintln(e.out, "No difference.")
	}
	if different {
		return errReported
	}
	return nil
}

// notNull makes JSON write an empty list as one.
func notNull[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
