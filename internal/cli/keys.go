package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/resource"
)

func newKeys(e *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list, rotate and revoke keys of callers",
		Long: `Create, list, rotate and revoke the keys that callers send to the gateway.

The server makes the secret of a key and keeps only a hash of it: it is shown
once, when the key is created or rotated.`,
	}
	cmd.AddCommand(newKeysCreate(e), newKeysList(e), newKeysRotate(e), newKeysRevoke(e))
	onlyCommands(cmd)
	return cmd
}

// key is a key as the API shows it.
type key struct {
	resource.Key
	ID     string     `json:"id"`
	Last4  string     `json:"last4"`
	Active bool       `json:"active"`
	EndsAt *time.Time `json:"endsAt"`
	// NewSecret is there once, when the key was made.
	NewSecret string `json:"-"`
}

// readKey reads a key from an answer. A key that was just made has its secret
// where others have a reference.
func readKey(raw json.RawMessage, made bool) (*key, error) {
	k := &key{}
	if err := json.Unmarshal(raw, k); err != nil {
		return nil, fmt.Errorf("read the key in the answer: %w", err)
	}
	if made {
		k.NewSecret, k.Secret = k.Secret, ""
	}
	return k, nil
}

// end is when the key stops working; nil is never.
func (k *key) end() *time.Time {
	if k.ExpiresAt == nil || k.EndsAt != nil && k.EndsAt.Before(*k.ExpiresAt) {
		return k.EndsAt
	}
	return k.ExpiresAt
}

// state says in a word whether the key works.
func (k *key) state(now time.Time) string {
	switch end := k.end(); {
	case !k.IsEnabled():
		return "off"
	case end != nil && !end.After(now):
		return "ended"
	case k.Last4 == "" && k.Secret == "":
		return "no secret"
	case !k.Active:
		return "inactive"
	case k.EndsAt != nil:
		return "ending"
	}
	return "active"
}

// whose says whom the key speaks for.
func (k *key) whose() string {
	var parts []string
	if o := k.Owner; o != nil {
		for _, x := range []struct{ what, name string }{
			{"user", o.User}, {"team", o.Team}, {"department", o.Department}, {"workload", o.Workload},
		} {
			if x.name != "" {
				parts = append(parts, x.what+":"+x.name)
			}
		}
	}
	if k.Team != "" && (k.Owner == nil || k.Owner.Team != k.Team) {
		parts = append(parts, "team:"+k.Team)
	}
	return strings.Join(parts, ",")
}

func newKeysList(e *environment) *cobra.Command {
	var server string
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List keys",
		Long: `List keys by name: type, whose it is, whether it works, when it ends, and the
last characters of its secret.

"ending" is a key that was rotated and still works, "ended" one whose time is
over, "no secret" one that a document declares and nobody can use yet.`,
		Example: "  interlock keys list\n  interlock keys list --output json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return e.listKeys(cmd.Context(), server, out.json()) },
	}
	serverFlag(cmd, &server)
	out.flag(cmd)
	return cmd
}

func (e *environment) listKeys(ctx context.Context, server string, asJSON bool) error {
	c, err := e.connect(server)
	if err != nil {
		return err
	}
	items, err := c.list(ctx, "/keys")
	if err != nil {
		return err
	}
	if asJSON {
		return e.printJSON(map[string]any{"items": items})
	}
	if len(items) == 0 {
		fmt.Fprintln(e.out, "There are no keys. Make one: interlock keys create NAME")
		return nil
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTYPE\tFOR\tSTATE\tENDS\tSECRET")
	for _, raw := range items {
		k, err := readKey(raw, false)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Name, k.Type, dash(k.whose()), k.state(e.now()), dash(showTime(k.end())), dash(k.shownSecret()))
	}
	return w.Flush()
}

// shownSecret is what may be shown of a secret: its last characters, or where
// a document says that it is.
func (k *key) shownSecret() string {
	if k.Last4 != "" {
		return "…" + k.Last4
	}
	return k.Secret // a reference: the API shows nothing else
}

// list reads all pages of a list.
func (c *client) list(ctx context.Context, path string) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	query := []string{"limit", "500"}
	for {
		var page struct {
			Items      []json.RawMessage `json:"items"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := c.call(ctx, http.MethodGet, path, nil, &page, query...); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" || len(page.Items) == 0 {
			return all, nil
		}
		query = []string{"limit", "500", "cursor", page.NextCursor}
	}
}

// oneKey is for commands that take the name or the id of a key.
func oneKey(cmd *cobra.Command, args []string) error {
	if err := oneArg("the name of the key")(cmd, args); err != nil {
		return err
	}
	if err := resource.CheckName(args[0]); err != nil {
		return usageError{err}
	}
	return nil
}

func keyPath(name string) string { return "/keys/" + url.PathEscape(name) }

func showTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
