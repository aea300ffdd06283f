package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/interlock-gateway/interlock/internal/dryrun"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/snapshot"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	request         dryrun.Request
	headers, params []string
	failures        []string
	budget          float64
	tokens          int64
	expect          string
	files, configs  []string
	server          string
	json            bool
}

func newExplain(e *environment) *cobra.Command {
	var o explainOptions
	out := textOrJSON()
	cmd := &cobra.Command{
		Use:   "explain --model MODEL",
		Short: "Say where a request would go, and why",
		Long: `Say where a request would go, and why: the route and what picked it, each member
and what keeps it in or out, and who would be tried in which order. Nothing is
sent to a provider, and asking changes nothing.

A running server answers by its configuration and by the state of its providers
of this moment. With -f or --config files answer instead, without a server:
nothing is broken then, nothing was measured, and it is every route's first
turn.

Exit codes: 0 the request would be served, and by --expect first; 1 it would be
refused, another provider would be first, or with --expect a provider of --down
or --parked is not there; 2 the command line is wrong.`,
		Example: `  interlock explain --model claude-sonnet-4-6
  interlock explain --model gpt-5.4 --key ci --down openai-main --output json
  interlock explain --model claude-sonnet-4-6 --failure quota_exhausted
  interlock explain -f interlock.yaml --model gpt-5.4 --expect openai-main`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.json = out.json()
			if err := o.complete(cmd); err != nil {
				return err
			}
			return e.explain(cmd.Context(), &o)
		},
	}
	o.flags(cmd)
	out.flag(cmd)
	return cmd
}

func (o *explainOptions) flags(cmd *cobra.Command) {
	f, r := cmd.Flags(), &o.request
	f.StringVar(&r.Model, "model", "", "the `MODEL` as a client would write it")
	f.StringVar(&r.Endpoint, "endpoint", "", "chat_completions, messages or count_tokens; else the one that fits the route")
	f.BoolVar(&r.Stream, "stream", false, "the client asks for a stream")
	f.StringVar(&r.Key, "key", "", "`NAME` of the caller's key, for its restrictions")
	f.StringArrayVar(&o.headers, "header", nil, "a header of the client as `NAME=VALUE`; can be repeated")
	f.StringArrayVar(&o.params, "param", nil, "a field of the body as `NAME=VALUE`; can be repeated. Not used by this version")
	f.IntVar(&r.PromptTokens, "prompt-tokens", 0, "size of the prompt in tokens")
	f.StringVar(&r.Session, "session", "", "`ID` of the client's session")
	f.BoolVar(&r.CallerCredential, "caller-credential", false, "the caller brings a provider's credential of its own")
	f.StringArrayVar(&r.Assume.Down, "down", nil, "a `PROVIDER` that counts as broken; can be repeated")
	f.StringArrayVar(&r.Assume.Parked, "parked", nil, "a `PROVIDER` that counts as out of quota; can be repeated")
	f.StringArrayVar(&o.failures, "failure", nil, "a failure `CATEGORY` that the candidates end with, one after the other; can be repeated")
	f.BoolVar(&r.PII, "pii", false, "the prompt has personal data. Not used by this version")
	f.Float64Var(&o.budget, "budget-used", 0, "what is spent, in `USD`. Not used by this version")
	f.Int64Var(&o.tokens, "tokens-used", 0, "tokens that are used up. Not used by this version")
	f.Uint64Var(&r.Seed, "seed", 0, "repeat what another answer drew at random")
	f.StringVar(&o.expect, "expect", "", "exit with 1 unless this `PROVIDER` would be tried first")
	filesFlag(cmd, &o.files)
	f.StringArrayVarP(&o.configs, "config", "c", nil, "the same as -f with a configuration `FILE`")
	serverFlag(cmd, &o.server)
}

// complete makes the question of the flags, and says what is wrong with it.
func (o *explainOptions) complete(cmd *cobra.Command) error {
	r := &o.request
	if r.Model == "" {
		return usagef("interlock explain needs the model: --model MODEL")
	}
	for _, h := range o.headers {
		name, value, err := pair("--header", h)
		if err != nil {
			return err
		}
		if r.Headers == nil {
			r.Headers = map[string]string{}
		}
		r.Headers[name] = value
	}
	for _, p := range o.params {
		name, value, err := pair("--param", p)
		if err != nil {
			return err
		}
		if r.Params == nil {
			r.Params = map[string]any{}
		}
		r.Params[name] = dryrun.ParseParam(value)
	}
	for _, c := range o.failures {
		r.Failures = append(r.Failures, failure.Category(c))
	}
	if cmd.Flags().Changed("budget-used") {
		r.BudgetUsed = &o.budget
	}
	if cmd.Flags().Changed("tokens-used") {
		r.TokensUsed = &o.tokens
	}
	if err := r.Check(); err != nil {
		return usageError{err}
	}
	o.files = append(o.files, o.configs...)
	if len(o.files) > 0 && cmd.Flags().Changed("server") {
		return usagef("-f and --config ask files and --server a server; choose one")
	}
	return nil
}

// pair splits NAME=VALUE.
func pair(flag, text string) (name, value string, err error) {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" {
		return "", "", usagef("%s %q: write NAME=VALUE", flag, text)
	}
	return name, value, nil
}

func (e *environment) explain(ctx context.Context, o *explainOptions) error {
	ask := e.askServer
	if len(o.files) > 0 {
		ask = e.askFiles
	}
	answer, err := ask(ctx, o)
	if err != nil {
		return err
	}
	if o.json {
		err = e.printJSON(answer)
	} else {
		_, err = fmt.Fprint(e.out, answer.Text())
	}
	switch {
	case err != nil:
		return err
	case !answer.Served:
		return errReported
	case o.expect != "" && len(answer.Unknown) > 0:
		for _, u := range answer.Unknown {
			fmt.Fprintf(e.err, "interlock: --expect is not met, since what it supposes is not there: %s\n", u)
		}
		return errReported
	case o.expect != "" && string(answer.Candidates[0].Provider) != o.expect:
		fmt.Fprintf(e.err, "interlock: %q would be tried first, not %q\n", answer.Candidates[0].Provider, o.expect)
		return errReported
	}
	return nil
}

func (e *environment) askServer(ctx context.Context, o *explainOptions) (*dryrun.Answer, error) {
	c, err := e.connect(o.server)
	if err != nil {
		return nil, err
	}
	answer := &dryrun.Answer{}
	if err := c.call(ctx, http.MethodPost, "/routing/resolve", o.request, answer); err != nil {
		if a, ok := errors.AsType[*apiError](err); ok && a.status == http.StatusBadRequest {
			return nil, usageError{err}
		}
		return nil, err
	}
	if answer.Served && len(answer.Candidates) == 0 || answer.Plan == nil {
		return nil, fmt.Errorf("the answer of %s has no decision; is it an Interlock server of this version?", c.base)
	}
	return answer, nil
}

func (e *environment) askFiles(ctx context.Context, o *explainOptions) (*dryrun.Answer, error) {
	live, err := e.compileFiles(o.files)
	if err != nil {
		return nil, err
	}
	answer, err := dryrun.Resolve(ctx, dryrun.World{Live: live, Now: e.now()}, &o.request)
	if f, ok := errors.AsType[*dryrun.FieldError](err); ok {
		return nil, usageError{f}
	}
	return answer, err
}

// compileFiles makes a configuration of files, for questions. Secrets are stood
// in for, those of keys that are only issued by a server as well: a question
// names a key and shows no secret.
func (e *environment) compileFiles(files []string) (*snapshot.Live, error) {
	set, err := e.readSet(files, false)
	if err != nil {
		return nil, err
	}
	for _, d := range set.docs {
		if k, ok := d.Object.(*resource.Key); ok && k.Secret == "" {
			k.Secret = "file:/issued/" + k.Name
		}
	}
	if len(set.problems) == 0 {
		if err := set.compile(false); err != nil {
			return nil, err
		}
	}
	if len(set.problems) > 0 || set.live == nil {
		set.sort()
		e.printProblems(e.err, set.problems, nil)
		fmt.Fprintf(e.err, "\ninterlock: the files have %s; check them: interlock check FILE…\n", count(len(set.problems), "problem"))
		return nil, errReported
	}
	return set.live, nil
}
