package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// Exit codes.
const (
	exitOK      = 0
	exitProblem = 1
	exitUsage   = 2
)

// usageError marks a wrong command line.
type usageError struct{ error }

// Main runs the command line and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	err := root.Execute()
	var usage usageError
	var problems resource.Problems
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "interlock: %v\nRun \"interlock --help\" for the commands.\n", err)
		return exitUsage
	case errors.As(err, &problems):
		fmt.Fprintf(stderr, "interlock: the configuration has %s\n", count(len(problems), "problem"))
		for _, p := range problems {
			fmt.Fprintf(stderr, "  %v\n", p)
		}
		return exitProblem
	}
	fmt.Fprintf(stderr, "interlock: %v\n", err)
	return exitProblem
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "interlock",
		Short:         "A self-hosted LLM gateway whose every decision can be explained",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newServe(stderr), newVersion(stdout))
	for _, c := range append(root.Commands(), root) {
		c.Args = noArgs
	}
	return root
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("%s takes no argument %q", cmd.CommandPath(), args[0])}
}

func newServe(stderr io.Writer) *cobra.Command {
	var path, listen string
	var sets []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: "Run the gateway with a configuration file. SIGTERM or Ctrl-C stops it: running\n" +
			"requests are finished for up to server.drainSeconds; a second signal stops at once.",
		Example: "  interlock serve --config interlock.yaml\n  interlock serve --config interlock.yaml --set server.listen=127.0.0.1:9000",
		RunE: func(*cobra.Command, []string) error {
			if listen != "" {
				sets = append(sets, "server.listen="+listen)
			}
			return serve(config.Options{Path: path, Sets: sets}, stderr)
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", "", "configuration file (YAML)")
	cmd.Flags().StringVar(&listen, "listen", "", "address to listen on, host:port; the same as --set server.listen=…")
	cmd.Flags().StringArrayVar(&sets, "set", nil, "override one setting, such as llmProxy.retry.maxElapsedMs=60000; can be repeated")
	return cmd
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
	go watchHangup(run, o, reloads, stderr)
	return a.Run(run, drain, reloads)
}

// watchHangup loads the configuration again for each SIGHUP. One that has
// problems changes nothing.
func watchHangup(ctx context.Context, o config.Options, reloads chan<- *config.Loaded, stderr io.Writer) {
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
			fmt.Fprintf(stderr, "interlock: the configuration was not reloaded and stays as it was:\n%v\n", err)
			continue
		}
		select {
		case reloads <- loaded:
		case <-ctx.Done():
			return
		}
	}
}

func newVersion(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(stdout, "interlock", version())
			return err
		},
	}
}

// version is what the build recorded.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return info.Main.Version
}
