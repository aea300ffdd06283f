package cli

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newCompletion(e *environment) *cobra.Command {
	shells := map[string]func(root *cobra.Command, w io.Writer) error{
		"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        (*cobra.Command).GenZshCompletion,
		"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
	}
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion of commands and flags for a shell",
		Long: `Print a script that lets a shell complete commands and flags with the Tab key.
The examples switch it on for the shell that runs now; put the line into the
shell's start-up file to have it always.`,
		Example: `  source <(interlock completion bash)     # needs the package bash-completion
  source <(interlock completion zsh)
  interlock completion fish | source
  interlock completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := oneArg("a shell: "+strings.Join(names, ", "))(cmd, args); err != nil {
				return err
			}
			if shells[args[0]] == nil {
				return usagef("%q is no shell that completion knows; write %s", args[0], strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return shells[args[0]](cmd.Root(), e.out) },
	}
}
