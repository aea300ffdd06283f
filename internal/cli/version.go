package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(e *environment) *cobra.Command {
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  interlock version\n  interlock version --output json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if out.json() {
				return e.printJSON(map[string]string{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintln(e.out, "interlock", version())
			return err
		},
	}
	out.flag(cmd)
	return cmd
}

// version is what the build recorded.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return info.Main.Version
}
