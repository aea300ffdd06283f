package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/interlock-gateway/interlock/internal/auth/password"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// maxPasswordLine bounds what is read as a password, in bytes.
const maxPasswordLine = 4096

func newUsers(e *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "users",
		Short: "Set passwords of the people who use the console",
		Long: `Set passwords of the people who use the console. Everything else of a user is in
documents, or changed in the console.`,
	}
	cmd.AddCommand(newUsersSetPassword(e))
	onlyCommands(cmd)
	return cmd
}

// passwordOptions are the flags of set-password.
type passwordOptions struct {
	store        rekeyOptions // where it is, if the server is stopped
	server, role string
}

func newUsersSetPassword(e *environment) *cobra.Command {
	var o passwordOptions
	cmd := &cobra.Command{
		Use:   "set-password NAME",
		Short: "Give a user a password",
		Long: `Give a user a password for the console, and with --role what they may do there.
With --role a user who is not there is made. What the user signed in to with the
old password ends.

The password is asked for on the terminal, where it does not show; elsewhere it
is the first line of standard input. It has 10 to 256 characters, and is never
an argument, which other users of the machine could see.

It asks the running server (--server). While the server is stopped, --data or
--config say where its store is: so the last administrator who forgot their
password gets in again.`,
		Example: `  interlock users set-password anna --role gateway-admin
  interlock users set-password anna --data /var/lib/interlock
  pwgen 20 1 | interlock users set-password anna`,
		Args: oneArg("the name of the user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args[0]); err != nil {
				return err
			}
			return e.setPassword(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.role, "role", "", "`ROLE` of the user: gateway-admin or viewer; left out it stays")
	f.StringVarP(&o.store.config, "config", "c", "", "the stopped server's configuration `FILE`")
	f.StringVar(&o.store.data, "data", "", "the stopped server's data `FOLDER`")
	serverFlag(cmd, &o.server)
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(roles(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

func roles() []string { return []string{"gateway-admin", "viewer"} }

func (o *passwordOptions) offline() bool { return o.store.data != "" || o.store.config != "" }

func (o *passwordOptions) check(name string) error {
	switch {
	case o.store.data != "" && o.store.config != "":
		return usagef("--data and --config both say where the store is; choose one")
	case o.offline() && o.server != "":
		return usagef("--server is a running server, --data and --config are of a stopped one; choose one")
	case o.role != "" && !slices.Contains(roles(), o.role):
		return usagef("there is no role %q; it can be %s", o.role, strings.Join(roles(), " or "))
	}
	if problems := (&resource.User{Meta: resource.Meta{Kind: "User", Name: name}}).Check(); len(problems) > 0 {
		return usagef("%s", problems[0].Message)
	}
	return nil
}

func (e *environment) setPassword(ctx context.Context, name string, o passwordOptions) error {
	set := e.setPasswordAt
	if o.offline() {
		set = e.setPasswordOffline
	}
	if err := set(ctx, name, o); err != nil {
		return err
	}
	fmt.Fprintf(e.out, "User %q has the new password.\n", name)
	return nil
}

// newPassword reads a password and checks it.
func (e *environment) newPassword(name string) (secret.String, error) {
	value, err := e.readPassword(name)
	if err == nil {
		err = resource.CheckPassword(value.Reveal())
	}
	return value, err
}

// readPassword asks for it twice where nobody sees it, or reads a line.
func (e *environment) readPassword(name string) (secret.String, error) {
	f, ok := e.in.(*os.File)
	if !ok || !isTerminal(f) {
		line, err := bufio.NewReader(io.LimitReader(e.in, maxPasswordLine)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return secret.String{}, fmt.Errorf("read the password: %w", err)
		}
		if line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"); line == "" {
			return secret.String{}, errors.New("there is no password on standard input; write it there in one line")
		}
		return secret.New(line), nil
	}
	to := e.questions()
	if to == nil {
		to = e.err
	}
	defer e.restoreTerminal(int(f.Fd()))()
	var typed [2]secret.String
	for i, question := range []string{fmt.Sprintf("New password of %s: ", name), "Once more: "} {
		fmt.Fprint(to, question)
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(to)
		if err != nil {
			return secret.String{}, fmt.Errorf("read the password: %w", err)
		}
		typed[i] = secret.New(string(b))
	}
	if !typed[0].Equal(typed[1]) {
		return secret.String{}, errors.New("the two passwords differ; nothing was changed")
	}
	return typed[0], nil
}

// restoreTerminal makes a terminal show again what is typed when the program is
// interrupted while it does not. The function ends that.
func (e *environment) restoreTerminal(fd int) func() {
	before, err := term.GetState(fd)
	if err != nil {
		return func() {} // reading fails as well
	}
	interrupted, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-interrupted:
			_ = term.Restore(fd, before) // the program ends either way
			fmt.Fprintln(e.err)
			os.Exit(exitProblem)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(interrupted)
		close(done)
	}
}

// setPasswordAt asks a server.
func (e *environment) setPasswordAt(ctx context.Context, name string, o passwordOptions) error {
	c, err := e.connect(o.server)
	if err != nil {
		return err
	}
	path := "/users/" + url.PathEscape(name)
	var user map[string]json.RawMessage
	err = c.call(ctx, http.MethodGet, path, nil, &user)
	missing, isAPI := errors.AsType[*apiError](err)
	gone := isAPI && missing.status == http.StatusNotFound
	switch {
	case gone && o.role == "":
		return fmt.Errorf("there is no user %q; check the name, or add --role to make one", name)
	case err != nil && !gone:
		return err
	}
	value, err := e.newPassword(name)
	if err != nil {
		return err
	}
	var role string
	_ = json.Unmarshal(user["role"], &role) // absent is none
	switch {
	case gone:
		return c.call(ctx, http.MethodPost, "/users", map[string]string{"name": name, "role": o.role, "password": value.Reveal()}, nil)
	case o.role != "" && o.role != role:
		next := make(map[string]any, len(user)+2)
		for k, v := range user {
			next[k] = v
		}
		next["role"], next["password"] = o.role, value.Reveal()
		return c.call(ctx, http.MethodPut, path, next, nil)
	}
	return c.call(ctx, http.MethodPut, path+"/password", map[string]string{"password": value.Reveal()}, nil)
}

// setPasswordOffline writes to the store of a stopped server.
func (e *environment) setPasswordOffline(ctx context.Context, name string, o passwordOptions) error {
	settings, err := o.store.settings(e.readFile)
	if err != nil {
		return err
	}
	if _, err := stoppedStore(settings.Storage.URL, "leave out --data and --config to ask it, or stop it"); err != nil {
		return err
	}
	box, err := masterBox(ctx, settings.Storage.DataDir, e.lookup)
	if err != nil {
		return err
	}
	value, err := e.newPassword(name)
	if err != nil {
		return err
	}
	st, err := sqlstore.Open(ctx, sqlstore.Options{URL: settings.Storage.URL})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }() // everything is written by then
	c := control.New(control.Options{
		Store: st, Box: box, Hash: password.New(1, 1).Hash, Log: slog.New(slog.DiscardHandler), Now: e.now,
		SnapshotPath: filepath.Join(settings.Storage.DataDir, "snapshot.json"),
		Audit:        func(entry control.Entry) error { return e.recordOffline(settings, entry) },
		Resolve:      func(string) (secret.String, error) { return secret.String{}, errOffline },
		Publish:      func(*snapshot.Live) {},
		Compile: func([]resource.Document, snapshot.Deps) (*snapshot.Live, resource.Problems) {
			return &snapshot.Live{}, nil // only a password and a role change, which are checked
		},
	})
	err = c.SetPassword(ctx, "command line", name, value, o.role)
	if refused, ok := errors.AsType[*control.Error](err); ok && refused.Status == http.StatusNotFound {
		return fmt.Errorf("there is no user %q in %s; check the name, or add --role to make one", name, settings.Storage.URL)
	}
	return err
}
