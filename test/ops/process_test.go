//go:build unix

package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

const (
	key        = gwtest.Key
	adminToken = gwtest.AdminToken
	chatPath   = "/v1/chat/completions"
)

// binary is built once for all tests.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "interlock-ops-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // another user runs it, too
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary = filepath.Join(dir, "interlock")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/interlock")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// site is a folder with a configuration and data, in which processes run.
type site struct {
	t        *testing.T
	dir      string
	settings string // lines of the configuration file
	mode     string
	user     uint32 // who runs it; 0 is who runs the test
	files    int    // descriptors that it may have; 0 is as many as the test
	server   string // more settings of server, after a comma
}

func newSite(t *testing.T, documents ...string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), mode: "seed"}
	s.documents(documents...)
	s.write("admin-token", adminToken)
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) database() string { return s.path("data/interlock.db") }

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.own(name)
}

// own gives a file to who runs the process.
func (s *site) own(name string) {
	s.t.Helper()
	if s.user > 0 {
		if err := os.Chown(s.path(name), int(s.user), int(s.user)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// documents writes the file of resources; the test's key is added.
func (s *site) documents(documents ...string) {
	s.t.Helper()
	s.write("resources.yaml", strings.Join(append(documents, "kind: Key\nname: test\ntype: service\nsecret: "+key), "\n---\n")+"\n")
}

func (s *site) configure() {
	s.t.Helper()
	s.write("interlock.yaml", fmt.Sprintf("server: {listen: 127.0.0.1:0, drainSeconds: 20%s}\nstorage: {url: %q, dataDir: %q}\nresources: {mode: %s, files: [resources.yaml]}\n",
		s.server, "sqlite:"+s.database(), s.path("data"), s.mode)+s.settings+"\n")
	if !strings.Contains(s.settings, "auth:") {
		s.write("interlock.yaml", s.read("interlock.yaml")+"auth: {adminTokens: ["+"file:"+s.path("admin-token")+"]}\n")
	}
}

func (s *site) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// process is one run of the binary.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	log    *buffer
	exited chan struct{}
	client *http.Client
}

// launch starts the binary and does not wait for it.
func (s *site) launch() *process {
	s.t.Helper()
	s.configure()
	p := &process{t: s.t, log: &buffer{}, exited: make(chan struct{}), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	args := []string{"serve", "--config", s.path("interlock.yaml")}
	p.cmd = exec.Command(binary, args...)
	if s.files > 0 {
		p.cmd = exec.Command("sh", append([]string{"-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(s.files), binary}, args...)...)
	}
	p.cmd.Stderr = p.log
	p.cmd.SysProcAttr = dieWithTest()
	if s.user > 0 {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: s.user, Gid: s.user}
	}
	p.run()
	return p
}

// run starts the command; the process ends with the test.
func (p *process) run() {
	p.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.exited) }() // its state is looked at
	p.t.Cleanup(func() {
		p.kill()
		p.client.CloseIdleConnections()
	})
}

// start starts the binary and waits until it listens.
func (s *site) start() *process {
	s.t.Helper()
	p := s.launch()
	p.listens()
	return p
}

// listens waits until it listens.
func (p *process) listens() {
	p.t.Helper()
	poll(p.t, "it listens", func() bool {
		for line := range strings.SplitSeq(p.log.String(), "\n") {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
				p.url = "http://" + entry.Address
				return true
			}
		}
		select {
		case <-p.exited:
			p.t.Fatalf("it ended with %v:\n%s", p.cmd.ProcessState, p.log)
		default:
		}
		return false
	})
}

// kill ends the process as a crash does, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.exited
}

func (p *process) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// wait waits for the end of the process and gives its exit code.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		p.t.Fatalf("it does not end:\n%s", p.log)
	}
	return p.cmd.ProcessState.ExitCode()
}

// stop ends the process well.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		p.t.Fatalf("exit code %d:\n%s", code, p.log)
	}
}

// answer is a whole HTTP answer; err is what kept it from being one.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

func (p *process) do(ctx context.Context, method, path, body, token string) (a answer) {
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	a.status, a.header = resp.StatusCode, resp.Header
	b, err := io.ReadAll(resp.Body)
	a.body, a.err = string(b), err
	return a
}

// chat sends a request to the data plane that has to have a status.
func (p *process) chat(status int) answer {
	p.t.Helper()
	a := p.do(p.t.Context(), "POST", chatPath, gwtest.Chat("gpt-5", false), key)
	if a.err != nil || a.status != status {
		p.t.Fatalf("status %d, want %d: %v %s\n%s", a.status, status, a.err, a.body, p.log)
	}
	return a
}

// admin sends a request to the admin API that has to have a status.
func (p *process) admin(status int, method, path, body string) answer {
	p.t.Helper()
	a := p.do(p.t.Context(), method, "/api/v1"+path, body, adminToken)
	if a.err != nil || a.status != status {
		p.t.Fatalf("%s %s: status %d, want %d: %v %s", method, path, a.status, status, a.err, a.body)
	}
	return a
}

// revision is the newest configuration version.
func (p *process) revision() int64 {
	p.t.Helper()
	var list struct{ Items []struct{ Version int64 } }
	if err := json.Unmarshal([]byte(p.admin(200, "GET", "/config-versions", "").body), &list); err != nil || len(list.Items) == 0 {
		p.t.Fatalf("%+v: %v", list, err)
	}
	return list.Items[0].Version
}

// poll waits for something that another process does.
func poll(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			tb.Fatalf("not within 30 s: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// logged waits for words in the log.
func (p *process) logged(words string) {
	p.t.Helper()
	poll(p.t, "the log says "+words, func() bool { return strings.Contains(p.log.String(), words) })
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
