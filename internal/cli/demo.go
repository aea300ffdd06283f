package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/demo"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// defaultListen is where the demonstration listens if it can.
const defaultListen = "127.0.0.1:8080"

func newDemo(e *environment) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try everything with fake providers, without a key",
		Long: `Run the gateway with three fake providers inside this program (on-premises, EU,
external), an organisation, keys, routes and an hour of made-up traffic, and
print commands to try. It needs no network and no credentials, keeps everything
in a temporary folder and removes that when it ends (Ctrl-C).`,
		Example: `  interlock demo
  interlock demo --listen 127.0.0.1:9000`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("listen") {
				listen = e.freeAddress(cmd.Context(), defaultListen)
			}
			return e.demo(listen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "listen on `HOST:PORT`; port 0 takes a free one")
	return cmd
}

// freeAddress is an address if nobody listens there, else one with another
// port.
func (e *environment) freeAddress(ctx context.Context, address string) string {
	var lc net.ListenConfig
	lis, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		fmt.Fprintf(e.out, "%s is taken by another program, so the demonstration takes a free port.\n", address)
		return "127.0.0.1:0"
	}
	_ = lis.Close() // nothing was accepted
	return address
}

// demo runs the demonstration in a folder of its own until a signal.
func (e *environment) demo(listen string) (err error) {
	dir, err := os.MkdirTemp("", "interlock-demo-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w; set TMPDIR to one that can be written", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	world, err := demo.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	_, token, err := makeAdminToken(dir)
	if err != nil {
		return err
	}
	o, err := withAdminToken(config.Options{Sets: append(dataSets(dir),
		"server.listen="+listen, "server.drainSeconds=2",
		"telemetry.logLevel=error",                     // the traffic fails on purpose
		"llmProxy.circuitBreaker.cooldownSeconds=3600", // the open breaker is there to be looked at
	)}, e.lookup)
	if err != nil {
		return err
	}
	a, keys, err := e.demoServer(o, world)
	if err != nil {
		return err
	}
	return e.run(a, o, func(ctx context.Context) error {
		url := reachable(a.Addr())
		fmt.Fprintln(e.out, "Sending an hour of made-up traffic ...")
		answers, err := world.Traffic(ctx, url, keys, func(send func(minute int) error) error {
			return a.Backdate(ctx, demo.Minutes, send)
		})
		select {
		case <-ctx.Done():
			return nil // it was ended meanwhile
		default:
		}
		if err != nil {
			return err
		}
		e.tour(url, world, keys[0], token, answers)
		return e.demoConsole(ctx, a)
	})
}

// demoPerson is who can sign in to the console of the demonstration.
const demoPerson = "anna"

// demoConsole makes somebody who can sign in, and says so.
func (e *environment) demoConsole(ctx context.Context, a *app.App) error {
	typed := secret.New("demo-" + strings.ToLower(rand.Text()[:10]))
	if err := a.SetPassword(ctx, "demonstration", demoPerson, typed, "gateway-admin"); err != nil {
		return err
	}
	e.heading("The console:")
	e.lines("%s/console/   # sign in as %s with the password %s\n", reachable(a.AdminAddr()), demoPerson, typed.Reveal())
	fmt.Fprintf(e.out, "\nCtrl-C ends it and removes everything.\n")
	return nil
}

// demoServer makes the gateway with everything in it; it listens.
func (e *environment) demoServer(o config.Options, world *demo.World) (*app.App, []secret.String, error) {
	ctx := context.Background()
	loaded, err := config.Load(o)
	if err != nil {
		return nil, nil, err
	}
	a, err := app.New(ctx, loaded, e.err)
	if err != nil {
		return nil, nil, err
	}
	if err := a.Listen(ctx); err != nil {
		return nil, nil, err
	}
	keys, err := a.Begin(ctx, loaded, world.Documents(), demo.Keys()...)
	if err != nil {
		return nil, nil, errors.Join(err, a.Discard())
	}
	return a, keys, nil
}

// tour says what there is and what to try.
func (e *environment) tour(url string, w *demo.World, key secret.String, token string, answers map[int]int) {
	total := 0
	for _, n := range answers {
		total += n
	}
	fmt.Fprintf(e.out, "%d requests were sent, %d of them served. Interlock listens on %s.\n", total, answers[200], e.paint(green, url))
	e.heading("There are")
	e.lines("providers  external (us), eu, on-premises: fakes in this program, at %s, %s and %s\n", w.External.URL, w.EU.URL, w.OnPremises.URL)
	e.lines("routes     gpt-* fails over from external to eu; claude-* is shared 1 to 2; llama-* begins on-premises\n")
	e.lines("alias      %s, a model name that only this gateway knows\n", demo.Alias)
	e.lines("people     department engineering, teams platform and research, keys anna-laptop, ci and %s (EU and on-premises only)\n", demo.EUKey)

	e.heading("Try, in another terminal: 1. a plain request")
	plain := request(url, llm.OpenAIChat, demo.FailoverModel, key.Reveal())
	e.lines("%s\n", plain)
	e.heading("2. a failover: break the external provider and ask again; the headers say who served it")
	e.lines("curl %s/__fake/rules -d '[{\"path\": \"chat/completions\", \"action\": \"status\", \"status\": 503}]'\n", w.External.URL)
	e.lines("%s -i\n", plain)
	e.lines("# mend it\ncurl -X POST %s/__fake/reset\n", w.External.URL)
	e.heading("3. an explained decision: key %s may not leave the EU", demo.EUKey)
	e.lines("export INTERLOCK_SERVER=%s INTERLOCK_TOKEN=%s\n", url, token)
	e.lines("%s explain --model %s --key %s\n", e.program, demo.FailoverModel, demo.EUKey)
	e.heading("Look around:")
	e.lines("# the health of providers: the breaker of on-premises is open\ncurl %s/api/v1/health/upstreams -H \"Authorization: Bearer $INTERLOCK_TOKEN\"\n", url)
	e.lines("# the hour, minute by minute\ncurl '%s/api/v1/stats?window=1h' -H \"Authorization: Bearer $INTERLOCK_TOKEN\"\n", url)
	e.lines("# what was refused, and why\ncurl '%s/api/v1/audit-events?kind=request&outcome=deny&limit=5' -H \"Authorization: Bearer $INTERLOCK_TOKEN\"\n", url)
	e.lines("%s export\n", e.program)
}
