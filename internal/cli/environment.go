package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// environment is what a command has around it.
type environment struct {
	in       io.Reader
	out, err io.Writer
	lookup   func(string) (string, bool)
	now      func() time.Time
	// questions is where a person reads questions, who answers at in; nil if
	// nobody can be asked.
	questions func() io.Writer
	// colours: standard output is a terminal that shows them.
	colours bool
	// program is what to write to call this program again.
	program string
}

func newEnvironment(stdout, stderr io.Writer) *environment {
	e := &environment{in: os.Stdin, out: stdout, err: stderr, lookup: os.LookupEnv, now: time.Now, program: os.Args[0]}
	e.questions = sync.OnceValue(func() io.Writer { return terminal(os.Stdin, stderr) })
	e.colours = isTerminal(stdout) && e.variable("NO_COLOR") == "" && e.variable("TERM") != "dumb"
	return e
}

// variable is an environment variable; one that is not set is empty.
func (e *environment) variable(name string) string {
	v, _ := e.lookup(name)
	return v
}

// isTerminal tells whether a stream is one: a device of characters other than
// the null device.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// terminal finds where to write questions that are answered at a stream: at
// standard error, or, if that goes elsewhere, to the terminal itself.
func terminal(answers *os.File, stderr io.Writer) io.Writer {
	if !isTerminal(answers) {
		return nil
	}
	if isTerminal(stderr) {
		return stderr
	}
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return tty // open until the end of the program
}

// asks tells whether there is a person who can answer a question.
func (e *environment) asks() bool { return e.questions() != nil }

// errCantAsk: a question has no one to answer it.
var errCantAsk error = usageError{errors.New("nobody can be asked here, since this is not a terminal; add --yes to go ahead without a question")}

// confirm asks a question that only y or yes answers with yes; anything else
// is an error.
func (e *environment) confirm(question string) error {
	if !e.asks() {
		return errCantAsk
	}
	fmt.Fprint(e.questions(), question+" [y/N] ")
	line, err := bufio.NewReader(e.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was changed")
}

// Colours of the terminal.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
	bold   = "1"
	dim    = "2"
)

// paint colours a text, on a terminal.
func (e *environment) paint(colour, text string) string {
	if !e.colours {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// printJSON writes a value for programs.
func (e *environment) printJSON(v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// choice is a flag with a fixed set of values.
type choice struct {
	value   string
	allowed []string
}

// textOrJSON is the choice of --output for people and for programs.
func textOrJSON() *choice { return &choice{"text", []string{"text", "json"}} }

func (c *choice) json() bool { return c.value == "json" }

// flag adds the choice to a command as --output.
func (c *choice) flag(cmd *cobra.Command) {
	cmd.Flags().Var(c, "output", "form of the output: "+strings.Join(c.allowed, " or "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(c.allowed, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
}

// String is the value.
func (c *choice) String() string { return c.value }

// Set takes one of the allowed values.
func (c *choice) Set(v string) error {
	if !slices.Contains(c.allowed, v) {
		return fmt.Errorf("it can be %s", strings.Join(c.allowed, " or "))
	}
	c.value = v
	return nil
}

// Type is what the help calls the value.
func (*choice) Type() string { return "FORM" }
