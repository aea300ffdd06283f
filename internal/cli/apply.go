package cli

import (
	"context"
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/control"
)

// applyOptions are the flags of apply.
type applyOptions struct {
	files                    []string
	server                   string
	prune, dryRun, yes, json bool
	// empty: that there are no documents is meant.
	empty bool
}

func newApply(e *environment) *cobra.Command {
	var o applyOptions
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:   "apply -f PATH",
		Short: "Make a server's resources what documents say",
		Long: `Make a server's resources what documents say: all of it in one transaction, or
nothing. The plan is printed first, field by field with secrets masked; on a
terminal it is applied when you say so, elsewhere at once.

What the server has and the documents do not is left alone, or deleted with
--prune; a key that is deleted is revoked for good. Without any document --prune
would delete everything, and needs --allow-empty. Objects that the server's
own configuration file manages can't be changed here.

Secret references (env:NAME, file:PATH) are sent as they are: the server looks
them up. A reference that a document no longer has is removed. A secret that is
stored on the server stays when a document leaves it out; null removes it.

Exit codes: 0 applied, or nothing to change; 1 the documents have problems, or
it failed; 2 the command line is wrong.`,
		Example: `  interlock apply -f resources/
  interlock apply -f resources/ --prune --dry-run
  interlock apply -f providers.yaml -f routes.yaml --yes
  interlock export --server https://a.example | interlock apply -f - --server https://b.example`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.json = out.json()
			if len(o.files) == 0 {
				return usagef("interlock apply needs the documents: -f PATH")
			}
			return e.apply(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	filesFlag(cmd, &o.files)
	f.BoolVar(&o.prune, "prune", false, "delete what is not among the documents")
	f.BoolVar(&o.empty, "allow-empty", false, "let --prune delete everything when there are no documents")
	f.BoolVar(&o.dryRun, "dry-run", false, "check and show the plan; change nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	serverFlag(cmd, &o.server)
	out.flag(cmd)
	return cmd
}

// applyReport is what apply says to programs.
type applyReport struct {
	Applied bool `json:"applied"`
	// Revision is the configuration version; of a dry run, the one that it
	// would make.
	Revision int64          `json:"revision"`
	Summary  totals         `json:"summary"`
	Changes  []control.Diff `json:"changes"`
}

func (e *environment) apply(ctx context.Context, o applyOptions) error {
	i, p, err := e.planImport(ctx, o.files, o.server, o.prune, o.json)
	if err != nil {
		return err
	}
	if len(i.set.docs) == 0 && o.prune && !o.empty {
		return usagef("there are no documents, so --prune would delete everything that the server has; check what -f names, or add --allow-empty if that is meant")
	}
	if !o.json {
		e.printPlan(p)
	}
	switch {
	case len(p.Changes) == 0, o.dryRun:
		return e.reportApply(p, false, o.json)
	case !o.json:
		fmt.Fprintf(e.out, "\n%s.\n", p.totals())
	}
	if e.asks() && !o.yes && !o.json {
		if err := e.confirm(fmt.Sprintf("Apply this to %s?", i.base)); err != nil {
			return err
		}
	}
	done, err := i.run(ctx, false)
	if err != nil {
		return e.importFailed(i, err, o.json)
	}
	if !o.json && !reflect.DeepEqual(done.Changes, p.Changes) {
		fmt.Fprintln(e.out, "\nThe server was changed meanwhile. This is what was applied:")
		e.printPlan(done)
	}
	return e.reportApply(done, true, o.json)
}

func (e *environment) reportApply(p *plan, applied, json bool) error {
	if json {
		return e.printJSON(applyReport{applied, p.Revision, p.totals(), notNull(p.Changes)})
	}
	switch {
	case applied:
		fmt.Fprintf(e.out, "Applied: configuration version %d.\n", p.Revision)
	case len(p.Changes) == 0:
		fmt.Fprintf(e.out, "Nothing to change: the server has all of it, in configuration version %d.\n", p.Revision)
	default:
		fmt.Fprintf(e.out, "\n%s. Dry run: nothing was changed.\n", p.totals())
	}
	return nil
}
