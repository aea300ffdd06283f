package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
)

// headings are the lines of cobra's usage text that begin a part.
func headings() []string {
	return []string{"Usage:", "Aliases:", "Examples:", "Available Commands:", "Additional Commands:", "Flags:", "Global Flags:"}
}

// paintHelp makes the headings of help texts stand out, on a terminal.
func (e *environment) paintHelp(root *cobra.Command) {
	if !e.colours {
		return
	}
	var pairs []string
	for _, h := range headings() {
		pairs = append(pairs, "\n"+h, "\n"+e.paint(bold, h), "}}"+h, "}}"+e.paint(bold, h))
	}
	text := root.UsageTemplate()
	if rest, ok := strings.CutPrefix(text, headings()[0]); ok {
		text = e.paint(bold, headings()[0]) + rest
	}
	root.SetUsageTemplate(strings.NewReplacer(pairs...).Replace(text))
	for _, g := range root.Groups() {
		g.Title = e.paint(bold, g.Title)
	}
}

// newHelp is the command that shows the help of another one. Unlike cobra's own
// it refuses a command that is not there.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.Root()
			for _, name := range args {
				i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) })
				if i < 0 {
					return noCommand(at, name)
				}
				at = at.Commands()[i]
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// flagName finds the flags in a usage text: each has a line of its own.
var flagName = regexp.MustCompile(`(?m)^\s+(?:-\w, )?--([a-z][a-z-]*)`)

// flagError says which flag a misspelt one may have been.
func flagError(cmd *cobra.Command, err error) error {
	wrong, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usageError{err}
	}
	var known []string
	for _, m := range flagName.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		known = append(known, m[1])
	}
	if near := yamldoc.Suggest(wrong, known); near != "" {
		return usagef("%s has no flag --%s; did you mean --%s?", cmd.CommandPath(), wrong, near)
	}
	return usagef("%s has no flag --%s", cmd.CommandPath(), wrong)
}
