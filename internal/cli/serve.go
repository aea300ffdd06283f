package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/config"
)

func newServe(e *environment) *cobra.Command {
	var path, data, listen string
	var sets []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: `Run the gateway, with a configuration file or with the defaults. Resources are
kept in the store, and changed through the admin API, with "interlock apply", or
by the file.

Without a file, the first start in an empty folder makes a provider for each
vendor whose key is in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...),
a first key and an admin token, and prints, once, how to go on. No vendor's key
is copied: the variables are read again at each start.

While nobody can sign in to the console, each start prints a link that makes the
first administrator; it works once, for an hour.

SIGTERM or Ctrl-C stops it: running requests are finished for up to
server.drainSeconds; a second signal stops at once. SIGHUP reads the file again.`,
		Example: `  interlock serve
  interlock serve --config interlock.yaml
  interlock serve --config interlock.yaml --set server.listen=127.0.0.1:9000
  interlock serve --data /var/lib/interlock`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var first []string // --set has the last word
			if cmd.Flags().Changed("data") {
				if data == "" {
					return usagef("--data is empty; name a folder")
				}
				first = dataSets(data)
			}
			if listen != "" {
				first = append(first, "server.listen="+listen)
			}
			return e.serve(config.Options{Path: path, Sets: append(first, sets...)})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&path, "config", "c", "", "configuration `FILE` (YAML)")
	f.StringVar(&data, "data", "", "`FOLDER` of everything that is kept; the same as --set storage.dataDir=FOLDER and storage.url=sqlite:FOLDER/interlock.db")
	f.StringVar(&listen, "listen", "", "listen on `HOST:PORT`; the same as --set server.listen=HOST:PORT")
	f.StringArrayVar(&sets, "set", nil, "override one setting with `PATH=VALUE`, such as llmProxy.retry.maxElapsedMs=60000; can be repeated")
	return cmd
}

// dataSets are the settings that --data stands for.
func dataSets(dir string) []string {
	return []string{"storage.dataDir=" + dir, "storage.url=sqlite:" + filepath.Join(dir, "interlock.db")}
}

func (e *environment) serve(o config.Options) error {
	fresh := o.Path == "" // with a file, everything is as the file says
	if fresh {
		var err error
		if o, err = withAdminToken(o, e.lookup); err != nil {
			return err
		}
	}
	loaded, err := loadConfig(o)
	if err != nil {
		return err
	}
	ctx := context.Background()
	app.LimitMemory(os.DirFS("/"), os.Getenv("GOMEMLIMIT"))
	a, err := app.New(ctx, loaded, e.err)
	if err != nil {
		return err
	}
	// The address first: a key must not be made and then never be shown.
	if err := a.Listen(ctx); err != nil {
		return err
	}
	say := func(link string) { e.offerSetup(link) }
	switch {
	case fresh && a.Empty(ctx):
		w, err := e.begin(ctx, a, &o)
		if err != nil {
			return errors.Join(err, a.Discard())
		}
		say = func(link string) { e.welcome(a, w, link) }
	case fresh:
		say = func(link string) {
			e.offerSetup(link)
			e.again(a, loaded.Config.Storage.DataDir)
		}
	}
	return e.run(a, o, func(context.Context) error {
		say(setupLink(a, loaded.Config))
		return nil
	})
}

// run starts a server, says so, and lets it serve until a signal.
func (e *environment) run(a *app.App, o config.Options, started func(context.Context) error) error {
	run, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	drain, cut := context.WithCancel(context.Background())
	defer cut()
	go func() { // a second signal cuts the drain short
		<-run.Done()
		again := make(chan os.Signal, 1)
		signal.Notify(again, syscall.SIGTERM, os.Interrupt)
		defer signal.Stop(again)
		select {
		case <-again:
			cut()
		case <-drain.Done():
		}
	}()
	if err := a.Start(run); err != nil {
		return err
	}
	if started != nil {
		if err := started(run); err != nil {
			return errors.Join(err, a.Stop(drain))
		}
	}
	reloads := make(chan *config.Loaded)
	go watchHangup(run, o, a, reloads)
	return a.Wait(run, drain, reloads)
}

// watchHangup loads the configuration again for each SIGHUP. One that has
// problems changes nothing.
func watchHangup(ctx context.Context, o config.Options, a *app.App, reloads chan<- *config.Loaded) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
		}
		loaded, err := config.Load(o)
		if err != nil {
			a.RefuseReload(err)
			continue
		}
		select {
		case reloads <- loaded:
		case <-ctx.Done():
			return
		}
	}
}
