package cli

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

func newKeysRevoke(e *environment) *cobra.Command {
	var server string
	var yes bool
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "End a key at once and for ever",
		Long: `End a key at once and for ever: its callers are refused from now on, and no
restore of an earlier configuration brings its secret back. To change a secret
without an interruption, rotate the key instead.

On a terminal it asks first. Elsewhere it needs --yes.`,
		Example: "  interlock keys revoke ci\n  interlock keys revoke ci --yes",
		Args:    oneKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.revokeKey(cmd.Context(), args[0], server, yes, out.json())
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	serverFlag(cmd, &server)
	out.flag(cmd)
	return cmd
}

func (e *environment) revokeKey(ctx context.Context, name, server string, yes, json bool) error {
	if !yes && !e.asks() {
		return errCantAsk
	}
	c, err := e.connect(server)
	if err != nil {
		return err
	}
	raw, err := c.send(ctx, http.MethodGet, keyPath(name), nil)
	if err != nil {
		return keyError(err)
	}
	k, err := readKey(raw, false)
	if err != nil {
		return err
	}
	if !yes {
		question := fmt.Sprintf("Revoke key %q (%s; %s)? Whoever uses it is refused at once, and nothing brings it back.", k.Name, k.summary(), k.state(e.now()))
		if err := e.confirm(question); err != nil {
			return err
		}
	}
	if err := c.call(ctx, http.MethodDelete, keyPath(k.ID), nil, nil); err != nil {
		return keyError(err)
	}
	if json {
		return e.printJSON(map[string]any{"revoked": true, "name": k.Name, "id": k.ID})
	}
	_, err = fmt.Fprintf(e.out, "Key %q is revoked.\n", k.Name)
	return err
}
