package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/control"
	"github.com/interlock-gateway/interlock/internal/secret"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// rekeyOptions are the flags of rekey.
type rekeyOptions struct {
	config, data string
	sets         []string
	dryRun, json bool
}

func newRekey(e *environment) *cobra.Command {
	var o rekeyOptions
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:   "rekey",
		Short: "Seal stored secrets with a new master key",
		Long: `Seal every stored secret with the first master key, while the server is stopped.
Each one is opened and, after it was sealed anew, opened again and compared. All
of it happens in one new configuration version, or nothing. Only counts are
printed.

The master keys are found as the server finds them: in INTERLOCK_MASTER_KEY, in
the file of INTERLOCK_MASTER_KEY_FILE, in what INTERLOCK_MASTER_KEY_COMMAND
prints, or in the file master.key of the data folder. The first one seals, the
others only open. Keys in master.key are tried for opening in any case.

To change the master key:
  1. Stop the server.
  2. Put the new key before the old one, INTERLOCK_MASTER_KEY=NEW,OLD, and run
     "interlock rekey".
  3. Start the server with the new key alone.

Secrets of earlier configuration versions stay under the key that sealed them:
to restore such a version, give the server the old key again.`,
		Example: `  INTERLOCK_MASTER_KEY="$NEW,$OLD" interlock rekey --data /var/lib/interlock
  interlock rekey --config interlock.yaml --dry-run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.json = out.json()
			if o.data != "" && o.config != "" {
				return usagef("--data and --config both say where the store is; choose one")
			}
			return e.rekey(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.config, "config", "c", "", "the server's configuration `FILE`")
	f.StringVar(&o.data, "data", "", "the server's data `FOLDER`; ./data if left out")
	f.StringArrayVar(&o.sets, "set", nil, "override one setting with `PATH=VALUE`, as the server does; can be repeated")
	f.BoolVar(&o.dryRun, "dry-run", false, "open every secret and count; change nothing")
	out.flag(cmd)
	return cmd
}

func (e *environment) rekey(ctx context.Context, o rekeyOptions) error {
	settings, err := o.settings(e.readFile)
	if err != nil {
		return err
	}
	path, err := stoppedStore(settings.Storage.URL, "stop the server, run this again, and start it with the new master key")
	if err != nil {
		return err
	}
	box, err := masterBox(ctx, settings.Storage.DataDir, e.lookup)
	if err != nil {
		return err
	}
	st, err := sqlstore.Open(ctx, sqlstore.Options{URL: settings.Storage.URL})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }() // everything is written by then
	c := control.New(control.Options{
		Store: st, Box: box, Log: slog.New(slog.DiscardHandler), Now: e.now,
		SnapshotPath: filepath.Join(settings.Storage.DataDir, "snapshot.json"),
		Audit:        func(entry control.Entry) error { return e.recordOffline(settings, entry) },
	})
	done, err := c.Reseal(ctx, "rekey", o.dryRun)
	if done == nil {
		return unsealed(err, path)
	}
	return errors.Join(e.reportRekey(done, o), err)
}

// settings are those of the server. Secrets are left alone: the variables that
// they are in may be the server's only.
func (o *rekeyOptions) settings(read func(string) ([]byte, error)) (*config.Config, error) {
	opt := newStandIns(filepath.Dir(o.config)).options(o.config, read, false)
	if o.data != "" {
		opt.Sets = dataSets(o.data)
	}
	opt.Sets = append(opt.Sets, o.sets...)
	loaded, err := loadConfig(opt)
	if err != nil {
		return nil, err
	}
	return loaded.Config, nil
}

// stoppedStore is the path of the database, which nobody has open. hint says
// what to do if somebody has.
func stoppedStore(url, hint string) (string, error) {
	path, ok := strings.CutPrefix(url, "sqlite:")
	if !ok {
		return "", errors.New("storage.url is no SQLite database; only those can be changed while the server is stopped")
	}
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("there is no store at %s; name the server's data folder with --data, or its configuration file with --config", path)
		}
		return "", fmt.Errorf("look at the store: %w", err)
	}
	pid, open, err := holder(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("look whether a server has %s open: %w", path, err)
	case open && pid > 0:
		return "", fmt.Errorf("process %d has %s open; %s", pid, path, hint)
	case open:
		return "", fmt.Errorf("a process has %s open; %s", path, hint)
	}
	return path, nil
}

// masterBox takes the master keys as the server does, but makes none, and adds
// those of the data folder for opening: they are what a server without any
// other key has sealed with.
func masterBox(ctx context.Context, dataDir string, lookup func(string) (string, bool)) (*secret.Box, error) {
	file := filepath.Join(dataDir, "master.key")
	_, err := os.Stat(file)
	there := err == nil
	named := false
	for _, name := range []string{"INTERLOCK_MASTER_KEY", "INTERLOCK_MASTER_KEY_FILE", "INTERLOCK_MASTER_KEY_COMMAND"} {
		if v, _ := lookup(name); v != "" {
			named = true
		}
	}
	if !named && !there {
		return nil, fmt.Errorf("there is no master key: set INTERLOCK_MASTER_KEY, or another of the variables that \"interlock rekey --help\" names, since %s does not exist", file)
	}
	masters, err := secret.MasterKeys(ctx, dataDir, lookup)
	if err != nil {
		return nil, err
	}
	if named && there {
		more, err := secret.MasterKeys(ctx, dataDir, func(string) (string, bool) { return "", false })
		if err != nil {
			return nil, err
		}
		masters = append(masters, more...)
	}
	return secret.NewBox(masters...)
}

// unsealed says what to do about secrets that no key opens.
func unsealed(err error, path string) error {
	if !errors.Is(err, secret.ErrUnsealed) {
		return err
	}
	return fmt.Errorf("nothing was changed in %s:\n%w\nAdd the master key that sealed them after the new one: INTERLOCK_MASTER_KEY=NEW,OLD", path, err)
}

// recordOffline writes the audit record of a change while the server is
// stopped; the server stores it when it starts.
func (e *environment) recordOffline(settings *config.Config, entry control.Entry) error {
	changes, err := json.Marshal(entry.Changes)
	if err != nil {
		return err
	}
	spool, err := audit.OpenSpool(audit.SpoolOptions{Dir: filepath.Join(settings.Storage.DataDir, "spool"), Fsync: true})
	if err != nil {
		return err
	}
	defer spool.Close()
	return spool.Append(&audit.Record{
		Kind: audit.KindAdmin, Time: e.now(), Outcome: audit.OutcomeAllow,
		Admin: &audit.AdminChange{Actor: entry.Actor, Summary: entry.Summary, Revision: entry.Revision, Changes: changes},
	})
}

func (e *environment) reportRekey(r *control.Resealed, o rekeyOptions) error {
	if o.json {
		return e.printJSON(struct {
			DryRun bool `json:"dryRun"`
			*control.Resealed
		}{o.dryRun, r})
	}
	switch {
	case r.Secrets == 0:
		fmt.Fprintln(e.out, "There are no stored secrets; references need no master key.")
	case o.dryRun:
		fmt.Fprintf(e.out, "%s can be opened; %d of them would be sealed anew with the master key %s. Nothing was changed.\n", count(r.Secrets, "stored secret"), r.Changed, r.KeyID)
	case r.Changed == 0:
		fmt.Fprintf(e.out, "%s, all of them under the master key %s already. Nothing was changed.\n", count(r.Secrets, "stored secret"), r.KeyID)
	default:
		fmt.Fprintf(e.out, "%s: %d sealed anew with the master key %s, %d under it already. Each was opened and compared.\n", count(r.Secrets, "stored secret"), r.Changed, r.KeyID, r.Secrets-r.Changed)
		fmt.Fprintf(e.out, "This is configuration version %d. To restore an earlier one, the server needs the old key as well.\n", r.Revision)
	}
	return nil
}
