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
		Short:   "Print the version, the revision and the version of Go",
		Example: "  interlock version\n  interlock version --output json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			b, platform := builtFrom(), runtime.GOOS+"/"+runtime.GOARCH
			if out.json() {
				return e.printJSON(map[string]any{
					"version": b.version, "revision": b.revision, "modified": b.modified, "go": runtime.Version(), "platform": platform,
				})
			}
			_, err := fmt.Fprintf(e.out, "interlock %s\nrevision  %s\ngo        %s %s\n", b.version, b.shown(), runtime.Version(), platform)
			return err
		},
	}
	out.flag(cmd)
	return cmd
}

// build is what the Go tool recorded of the sources.
type build struct {
	version, revision string
	// modified: the sources had changes that no revision has.
	modified bool
}

func builtFrom() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{version: "(unknown)"}
	}
	b := build{version: info.Main.Version}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	return b
}

// shown is the revision for people.
func (b build) shown() string {
	switch {
	case b.revision == "":
		return "unknown (built without version control)"
	case b.modified:
		return b.revision + ", with changes"
	}
	return b.revision
}

// version is what the build recorded.
func version() string { return builtFrom().version }
