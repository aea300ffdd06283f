package cli

import "github.com/spf13/cobra"

func newRekey(e *environment) *cobra.Command { return &cobra.Command{Use: "rekey"} }
