package cli

import (
	"context"
	"io"
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

SIGTERM or Ctrl-C stops it: running requests are finished for up to
server.drainSeconds; a second signal stops at once. SIGHUP reads the file again.`,
		Example: `  interlock serve --config interlock.yaml
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
			return serve(config.Options{Path: path, Sets: append(first, sets...)}, e.err)
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

func serve(o config.Options, stderr io.Writer) error {
	loaded, err := config.Load(o)
	if err != nil {
		return err
	}
	a, err := app.New(context.Background(), loaded, stderr)
	if err != nil {
		return err
	}
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
	reloads := make(chan *config.Loaded)
	go watchHangup(run, o, a, reloads)
	return a.Run(run, drain, reloads)
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
