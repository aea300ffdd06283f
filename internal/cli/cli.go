package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// Exit codes.
const (
	exitOK      = 0
	exitProblem = 1
	exitUsage   = 2
)

// usageError marks a wrong command line.
type usageError struct{ error }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errReported ends a command with exit code 1 when everything has been said.
var errReported = errors.New("reported")

// Main runs the command line and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	e := newEnvironment(stdout, stderr)
	root := newRoot(e)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	var usage usageError
	var problems resource.Problems
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitProblem
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "interlock: %v\nRun \"%s --help\" for how to use it.\n", err, cmd.CommandPath())
		return exitUsage
	case errors.As(err, &problems):
		fmt.Fprintf(stderr, "interlock: the configuration has %s\n", count(len(problems), "problem"))
		for _, p := range problems {
			fmt.Fprintf(stderr, "  %v\n", p)
		}
		return exitProblem
	}
	fmt.Fprintf(stderr, "interlock: %v\n", err)
	return exitProblem
}

// count says how many there are: "1 problem", "2 problems".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// The groups that the help lists commands in.
const (
	groupServer = "server"
	groupCode   = "code"
	groupKeys   = "keys"
)

func newRoot(e *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "interlock",
		Short: "A self-hosted LLM gateway whose every decision can be explained",
		Long: `A self-hosted LLM gateway whose every decision can be explained.

"interlock demo" shows it with fake providers; "interlock serve" runs it, and at
the first start says how to send the first request.

Commands that work on a running server find it at --server or INTERLOCK_SERVER
(http://127.0.0.1:8080 if neither is there) and sign in with the admin token in
INTERLOCK_TOKEN, or else in INTERLOCK_ADMIN_TOKEN.

Exit codes: 0 done; 1 differences or problems were found, or the command
failed; 2 the command line is wrong.`,
		Example: `  interlock demo
  ANTHROPIC_API_KEY=... interlock serve
  interlock explain --model claude-haiku-4-5
  interlock keys create ci --expires 30d`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "Server and routing:"},
		&cobra.Group{ID: groupCode, Title: "Configuration as code:"},
		&cobra.Group{ID: groupKeys, Title: "Keys, secrets and people:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupServer, newServe(e), newDemo(e), newExplain(e))
	add(groupCode, newCheck(e), newDiff(e), newApply(e), newExport(e))
	add(groupKeys, newKeys(e), newUsers(e), newRekey(e))
	root.AddCommand(newVersion(e), newCompletion(e))
	onlyCommands(root)
	root.SetHelpCommand(newHelp())
	e.paintHelp(root)
	return root
}

// onlyCommands makes a command that has commands show its help, and refuse
// arguments that are none of them.
func onlyCommands(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return noCommand(cmd, args[0])
	}
}

// noCommand says that a command has no command of a name.
func noCommand(cmd *cobra.Command, name string) error {
	if s := cmd.SuggestionsFor(name); len(s) > 0 {
		return usagef("there is no command %q; did you mean %s?", cmd.CommandPath()+" "+name, strings.Join(s, " or "))
	}
	return usagef("there is no command %q", cmd.CommandPath()+" "+name)
}

// noArgs is for commands that take flags only.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("%s takes no argument %q", cmd.CommandPath(), args[0])
}

// oneArg is for commands that take one argument, which what names.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usagef("%s needs %s", cmd.CommandPath(), what)
		case len(args) > 1:
			return usagef("%s takes %s and nothing more; %q is too much", cmd.CommandPath(), what, args[1])
		}
		return nil
	}
}
