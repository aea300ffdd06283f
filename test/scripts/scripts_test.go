// Package scripts runs the command line as people do: each testdata/*.txtar is
// a script of commands with the files that it needs. The program is the real
// one, in processes of its own; servers and fake providers listen on loopback.
//
// Besides the commands of testscript there are:
//
//	run CODE interlock ARGS…   runs a command, which must end with that code
//	server [ARGS…]             starts interlock serve and sets INTERLOCK_SERVER;
//	                           without --config, with an empty configuration
//	bareserver FILE [ARGS…]    starts it without a configuration; what it says
//	                           to people goes to FILE
//	demo FILE [ARGS…]          starts interlock demo in the same way
//	printed FILE REGEXP        runs, in one shell, the commands in FILE that set
//	                           INTERLOCK_… and then those that match
//	stopserver                 ends it; it must end well
//	fake                       starts a fake provider and sets FAKE to its URL
//	ask STATUS KEY MODEL       sends a request with a key, or with the key in a
//	                           file; the answer must have that status
//	received TEXT              the fake provider was sent TEXT as a credential
//	api METHOD PATH [FILE]     calls the admin API; the answer becomes stdout
//
// Whatever a variable SECRET_… holds must not be in anything that a command or
// a server writes, neither to a stream nor to a file.
package scripts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/interlock-gateway/interlock/internal/cli"
	"github.com/interlock-gateway/interlock/internal/fakellm"
)

var update = flag.Bool("update", false, "rewrite the files that scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"interlock": func() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

func TestCL_scripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("INTERLOCK_TOKEN", "")
			env.Setenv("INTERLOCK_ADMIN_TOKEN", "")
			env.Setenv("INTERLOCK_SERVER", "http://127.0.0.1:1")
			env.Values[worldKey] = &world{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": cmdRun, "server": cmdServer, "bareserver": cmdBareServer, "demo": cmdDemo, "printed": cmdPrinted, "stopserver": cmdStopServer, "fake": cmdFake, "ask": cmdAsk, "received": cmdReceived, "api": cmdAPI, "signin": cmdSignIn,
		},
	})
}

// world is what a script has started, and what came out of it.
type world struct {
	mu     sync.Mutex
	out    bytes.Buffer // of all commands and servers
	server *exec.Cmd
	log    *log
	fake   *fakellm.Server
	// watched: the script ends with a look for secrets.
	watched bool
}

const worldKey = "world"

func of(ts *testscript.TestScript) *world {
	w := ts.Value(worldKey).(*world)
	if !w.watched {
		w.watched = true
		ts.Defer(func() { w.close(ts) })
	}
	return w
}

// close ends what still runs and looks for secrets.
func (w *world) close(ts *testscript.TestScript) {
	if w.server != nil {
		w.server.Process.Kill()
		w.server.Wait()
	}
	if w.fake != nil {
		w.fake.Close()
	}
	for _, value := range w.secrets(ts) {
		if bytes.Contains(w.out.Bytes(), []byte(value)) {
			ts.Fatalf("OP-9: the secret %s was written to a stream", value)
		}
		ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "given-") {
				return err // given- files are written by the script itself
			}
			b, err := os.ReadFile(path)
			if bytes.Contains(b, []byte(value)) {
				ts.Fatalf("OP-9: the secret %s is in the file %s", value, path)
			}
			return err
		}))
	}
}

// secrets are the values of SECRET_… that the script set.
func (w *world) secrets(ts *testscript.TestScript) []string {
	var out []string
	for _, name := range []string{"SECRET_A", "SECRET_B", "SECRET_C", "SECRET_KEY", "SECRET_ADMIN"} {
		if v := ts.Getenv(name); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// record keeps what was written.
func (w *world) record(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.WriteString(text)
}

func cmdRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: run CODE COMMAND ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	w := of(ts)
	err = ts.Exec(args[1], args[2:]...)
	w.record(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("run: %v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// log collects what a server writes and tells where it listens.
type log struct {
	mu    sync.Mutex
	text  bytes.Buffer
	found chan string
	once  sync.Once
	// ready finds the address in what was written.
	ready *regexp.Regexp
}

var address = regexp.MustCompile(`"msg":"listening","address":"([^"]+)"`)

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if m := l.ready.FindSubmatch(l.text.Bytes()); m != nil {
		l.once.Do(func() { l.found <- string(m[1]) })
	}
	return len(p), nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func cmdServer(ts *testscript.TestScript, _ bool, args []string) {
	if !slices.Contains(args, "--config") {
		empty := ts.MkAbs(".empty.yaml")
		ts.Check(os.WriteFile(empty, nil, 0o600))
		args = append([]string{"--config", empty}, args...)
	}
	of(ts).start(ts, nil, address, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
}

func cmdBareServer(ts *testscript.TestScript, _ bool, args []string) {
	of(ts).start(ts, args[:1], welcomed, append([]string{"serve", "--listen", "127.0.0.1:0"}, args[1:]...)...)
}

func cmdDemo(ts *testscript.TestScript, _ bool, args []string) {
	of(ts).start(ts, args[:1], toured, append([]string{"demo"}, args[1:]...)...)
}

// welcomed is all that a start without a configuration says.
var welcomed = regexp.MustCompile(`(?s)Interlock listens on http://([0-9.:]+)(?:,[^\n]*\n| and keeps.*openapi\.json\.\n)`)

// toured is what the demonstration ends its text with, after its address.
var toured = regexp.MustCompile(`(?s)Interlock listens on http://(\S+)\.\n.*Ctrl-C ends it`)

// start runs a server until it says where it listens. Its standard output goes
// to a file as well, if there is one.
func (w *world) start(ts *testscript.TestScript, file []string, ready *regexp.Regexp, args ...string) {
	if w.server != nil {
		ts.Fatalf("a server is running already")
	}
	path := "interlock"
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p := filepath.Join(dir, "interlock"); isFile(p) {
			path = p
			break
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Args[0] = "interlock" // as from a shell: it says what to call next
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environ(ts)
	l := &log{found: make(chan string, 1), ready: ready}
	cmd.Stdout, cmd.Stderr = l, l
	if len(file) > 0 {
		f, err := os.Create(ts.MkAbs(file[0]))
		ts.Check(err)
		cmd.Stdout = io.MultiWriter(f, l)
		ts.Defer(func() { f.Close() })
	}
	ts.Check(cmd.Start())
	w.server, w.log = cmd, l
	select {
	case a := <-l.found:
		ts.Setenv("INTERLOCK_SERVER", "http://"+a)
	case <-time.After(60 * time.Second):
		ts.Fatalf("the server did not start:\n%s", l)
	}
}

// cmdPrinted runs commands as somebody would who copies them.
func cmdPrinted(ts *testscript.TestScript, _ bool, args []string) {
	var script []string
	want := regexp.MustCompile("(?m)" + args[1])
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "\\\n", "")
	for line := range strings.Lines(text) {
		line, copyable := strings.CutPrefix(line, "  ")
		if copyable && (strings.HasPrefix(line, "export INTERLOCK_") || want.MatchString(line)) {
			script = append(script, line)
		}
	}
	err := ts.Exec("sh", "-ec", strings.Join(script, ""))
	of(ts).record(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	if err != nil {
		ts.Fatalf("%s: %v", script, err)
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// environ is the environment of the script, as far as programs need it.
func environ(ts *testscript.TestScript) []string {
	var out []string
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "WORK", "SECRET_A", "SECRET_B", "SECRET_C", "SECRET_KEY", "INTERLOCK_ADMIN_TOKEN",
		"INTERLOCK_MASTER_KEY", "INTERLOCK_MASTER_KEY_FILE",
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY",
	} {
		if v := ts.Getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

func cmdStopServer(ts *testscript.TestScript, _ bool, _ []string) {
	w := of(ts)
	if w.server == nil {
		ts.Fatalf("there is no server")
	}
	ts.Check(w.server.Process.Signal(syscall.SIGTERM))
	err := w.server.Wait()
	w.record(w.log.String())
	w.server = nil
	if err != nil {
		ts.Fatalf("the server ended with %v:\n%s", err, w.log)
	}
}

func cmdFake(ts *testscript.TestScript, _ bool, _ []string) {
	w := of(ts)
	w.fake = fakellm.New(fakellm.Options{})
	url, err := w.fake.Start("127.0.0.1:0")
	ts.Check(err)
	ts.Setenv("FAKE", url)
}

func cmdAsk(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: ask STATUS KEY MODEL")
	}
	key := args[1]
	if b, err := os.ReadFile(ts.MkAbs(key)); err == nil {
		key = strings.TrimSpace(string(b))
	}
	body := fmt.Sprintf(`{"model":%q,"max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`, args[2])
	status, answer := call(ts, http.MethodPost, "/v1/messages", body, "x-api-key", key, "anthropic-version", "2023-06-01", "Content-Type", "application/json")
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("status %d, want %s: %s", status, args[0], answer)
	}
}

func cmdReceived(ts *testscript.TestScript, neg bool, args []string) {
	found := false
	for _, r := range of(ts).fake.Records() {
		for _, values := range r.Headers {
			found = found || strings.Contains(strings.Join(values, " "), args[0])
		}
	}
	if found == neg {
		ts.Fatalf("the provider was sent the credential: %v", found)
	}
}

func cmdAPI(ts *testscript.TestScript, _ bool, args []string) {
	body := ""
	if len(args) > 2 {
		body = ts.ReadFile(args[2])
	}
	status, answer := call(ts, args[0], "/api/v1"+args[1], body, "Authorization", "Bearer "+adminToken(ts), "Content-Type", "application/json")
	if status >= 300 {
		ts.Fatalf("status %d: %s", status, answer)
	}
	of(ts).record(answer)
	fmt.Fprintln(ts.Stdout(), answer)
}

// cmdSignIn signs in to the console with the password in a file, whatever comes
// of it.
func cmdSignIn(ts *testscript.TestScript, _ bool, args []string) {
	body, err := json.Marshal(map[string]string{"name": args[0], "password": strings.TrimSuffix(ts.ReadFile(args[1]), "\n")})
	ts.Check(err)
	_, answer := call(ts, "POST", "/api/v1/auth/sign-in", string(body), "Content-Type", "application/json")
	fmt.Fprintln(ts.Stdout(), answer)
}

// adminToken is the one that the script set, or that a first start made.
func adminToken(ts *testscript.TestScript) string {
	if v := ts.Getenv("INTERLOCK_ADMIN_TOKEN"); v != "" {
		return v
	}
	return strings.TrimSpace(ts.ReadFile("data/admin-token"))
}

func call(ts *testscript.TestScript, method, path, body string, headers ...string) (int, string) {
	req, err := http.NewRequestWithContext(context.Background(), method, ts.Getenv("INTERLOCK_SERVER")+path, strings.NewReader(body))
	ts.Check(err)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	ts.Check(err)
	return resp.StatusCode, string(b)
}
