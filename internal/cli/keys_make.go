package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// makeOptions are the flags of the commands that make a key.
type makeOptions struct {
	server      string
	quiet, json bool
}

// flags adds what create and rotate share.
func (o *makeOptions) flags(cmd *cobra.Command, out *choice) {
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print the secret and nothing else")
	serverFlag(cmd, &o.server)
	out.flag(cmd)
}

// check reads the form of the output, once the flags are there.
func (o *makeOptions) check(out *choice) error {
	o.json = out.json()
	if o.quiet && o.json {
		return usagef("--quiet prints the secret alone and --output json the key as JSON; choose one")
	}
	return nil
}

// createOptions are the flags of keys create.
type createOptions struct {
	makeOptions
	typ, team, owner, agent, expires string
	labels                           map[string]string
}

func newKeysCreate(e *environment) *cobra.Command {
	var o createOptions
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a key and print its secret, once",
		Long: `Create a key and print its secret. This is the only time that it can be shown:
the server keeps a hash of it.`,
		Example: `  interlock keys create ci --team platform --expires 30d
  interlock keys create anna-laptop --type pat --owner user:anna
  interlock keys create ci --quiet > ci.key`,
		Args: oneKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(out); err != nil {
				return err
			}
			return e.createKey(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.typ, "type", "service", "`TYPE` of the key: service (a program), pat (a person) or session (short-lived)")
	f.StringVar(&o.team, "team", "", "`NAME` of the team that uses it")
	f.StringVar(&o.owner, "owner", "", "whose key it is, as `KIND:NAME`: user:anna, team:platform, department:it or workload:nightly")
	f.StringVar(&o.agent, "agent", "", "`NAME` of the agent that uses it")
	f.StringToStringVar(&o.labels, "label", nil, "label `NAME=VALUE`; can be repeated")
	f.Lookup("label").DefValue = "" // not []
	f.StringVar(&o.expires, "expires", "", "`WHEN` it stops working: after 30d, 2w or 12h, or at 2027-06-30 or 2027-06-30T12:00:00Z; never if left out")
	o.flags(cmd, out)
	return cmd
}

// object is the key that the flags describe.
func (o *createOptions) object(name string, now time.Time) (*resource.Key, error) {
	k := &resource.Key{Meta: resource.Meta{Kind: "Key", Name: name}, Type: o.typ, Team: o.team, Agent: o.agent, Labels: o.labels}
	if o.expires != "" {
		end, err := parseEnd(o.expires, now)
		if err != nil {
			return nil, usagef("--expires %q: %w", o.expires, err)
		}
		k.ExpiresAt = &end
	}
	if o.owner != "" {
		kind, owner, _ := strings.Cut(o.owner, ":")
		k.Owner = &resource.KeyOwner{}
		field := map[string]*string{"user": &k.Owner.User, "team": &k.Owner.Team, "department": &k.Owner.Department, "workload": &k.Owner.Workload}[kind]
		if field == nil || owner == "" {
			return nil, usagef("--owner %q: write user:NAME, team:NAME, department:NAME or workload:NAME", o.owner)
		}
		*field = owner
	}
	if problems := k.Check(); len(problems) > 0 { // what is wrong is in the flags
		return nil, usageError{problems[0]}
	}
	return k, nil
}

func (e *environment) createKey(ctx context.Context, name string, o createOptions) error {
	object, err := o.object(name, e.now())
	if err != nil {
		return err
	}
	c, err := e.connect(o.server)
	if err != nil {
		return err
	}
	raw, err := c.send(ctx, http.MethodPost, "/keys", object)
	if err != nil {
		return explained(err)
	}
	return e.showNewKey(raw, o.makeOptions, func(k *key) {
		fmt.Fprintf(e.out, "Key %q is made (%s).\n", k.Name, k.summary())
	})
}

// explained adds to the answer of the API what single fields are wrong.
func explained(err error) error {
	e, ok := err.(*apiError) //nolint:errorlint // send gives it as it is
	if !ok || len(e.Errors) < 2 {
		return err
	}
	lines := []string{e.Detail}
	for _, f := range e.Errors {
		lines = append(lines, "  "+f.Path+": "+f.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// summary says what kind of key it is.
func (k *key) summary() string {
	parts := []string{k.Type}
	if w := k.whose(); w != "" {
		parts = append(parts, w)
	}
	if end := k.end(); end != nil {
		parts = append(parts, "until "+showTime(end))
	}
	return strings.Join(parts, ", ")
}

// showNewKey prints a key that was just made, with its secret.
func (e *environment) showNewKey(raw json.RawMessage, o makeOptions, about func(*key)) error {
	k, err := readKey(raw, true)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return e.printJSON(raw)
	case o.quiet:
		_, err = fmt.Fprintln(e.out, k.NewSecret)
		return err
	}
	about(k)
	_, err = fmt.Fprintf(e.out, "\n  %s\n\nThis is its secret. It is shown this once: keep it where secrets are kept.\n", k.NewSecret)
	return err
}

func newKeysRotate(e *environment) *cobra.Command {
	var o makeOptions
	var overlap string
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:   "rotate NAME",
		Short: "Replace a key by one with a new secret",
		Long: `Replace a key by a successor with the same rights and a new secret, which is
printed, once. The successor has a name of its own (ci, then ci-r2). The old
secret works until the overlap is over, so that callers can change to the new
one.`,
		Example: `  interlock keys rotate ci
  interlock keys rotate ci --overlap 2h
  interlock keys rotate ci --overlap 0s --quiet > ci.key`,
		Args: oneKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(out); err != nil {
				return err
			}
			d, err := parseDuration(overlap)
			if err != nil {
				return usagef("--overlap %q: %w", overlap, err)
			}
			return e.rotateKey(cmd.Context(), args[0], d, o)
		},
	}
	cmd.Flags().StringVar(&overlap, "overlap", "24h", "`DURATION` for which the old secret goes on working, such as 2h or 7d; 0s ends it at once")
	o.flags(cmd, out)
	return cmd
}

func (e *environment) rotateKey(ctx context.Context, name string, overlap time.Duration, o makeOptions) error {
	c, err := e.connect(o.server)
	if err != nil {
		return err
	}
	raw, err := c.send(ctx, http.MethodPost, keyPath(name)+"/rotate", map[string]int64{"overlapSeconds": int64(overlap / time.Second)})
	if err != nil {
		return keyError(err)
	}
	return e.showNewKey(raw, o, func(k *key) {
		fmt.Fprintf(e.out, "Key %q is replaced by %q (%s).\n", k.RotatedFrom, k.Name, k.summary())
		if overlap == 0 {
			fmt.Fprintln(e.out, "The old secret does not work any more.")
			return
		}
		end := c.endOf(ctx, k.RotatedFrom) // it may be earlier: the key may have ended sooner
		if end == nil {
			end = new(e.now().Add(overlap))
		}
		fmt.Fprintf(e.out, "The old secret works until %s.\n", showTime(end))
	})
}

// endOf is when a key stops working, as far as it can be found out.
func (c *client) endOf(ctx context.Context, name string) *time.Time {
	raw, err := c.send(ctx, http.MethodGet, keyPath(name), nil)
	if err != nil {
		return nil
	}
	k, err := readKey(raw, false)
	if err != nil {
		return nil
	}
	return k.end()
}

// keyError says what to do when there is no such key.
func keyError(err error) error {
	if e, ok := err.(*apiError); ok && e.status == http.StatusNotFound { //nolint:errorlint // send gives it as it is
		return fmt.Errorf("%w; \"interlock keys list\" shows those that there are", err)
	}
	return err
}
