package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-gateway/interlock/internal/fakellm"
)

// patience is the time that one client may take for everything.
const patience = time.Minute

// report is what one check saw: a line that a driver prints.
type report struct {
	Check string          `json:"check"`
	Saw   json.RawMessage `json:"saw"`
	Error *failure        `json:"error"`
}

// failure is an error as an SDK shows it.
type failure struct {
	Name    string `json:"name"`
	Status  int    `json:"status"`
	Message string `json:"message"`
}

// vendor is whose format a client speaks: it decides the model and which of
// the gateway's providers has to be asked.
type vendor int

const (
	anthropicFormat vendor = iota
	openAIFormat
)

func (v vendor) model() string {
	if v == anthropicFormat {
		return claudeModel
	}
	return gptModel
}

// drive runs a driver with every check it has, and judges what it saw. The
// driver's file is in drivers; runtime is what runs it.
func drive(t *testing.T, e *entry, speaks vendor, runtime string, driver ...string) {
	t.Helper()
	g := startGateway(t)
	g.scriptDrivers()
	argv := append([]string{runtime, filepath.Join(cache(t), "drivers", driver[0])}, driver[1:]...)
	out := run(t, t.TempDir(), argv, "BASE_URL="+g.url, "API_KEY="+key, "WRONG_KEY="+wrongKey,
		"MODEL="+speaks.model(), "UNKNOWN_MODEL="+unknownModel, "EMBEDDING_MODEL="+embeddingModel)
	var reports []report
	for lines := bufio.NewScanner(strings.NewReader(out.stdout)); lines.Scan(); {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("%s: %q", err, lines.Text())
			continue
		}
		reports = append(reports, r)
	}
	if out.err != nil || len(reports) == 0 {
		t.Errorf("the driver ended with %v:\n%s%s", out.err, out.stdout, out.stderr)
	}
	for _, r := range reports {
		e.judge(t, r, speaks)
	}
	g.askedByDriver(speaks)
	e.count(g)
}

// scriptDrivers is the script for SDKs, whose tool is named multiply.
func (g *gateway) scriptDrivers() {
	g.t.Helper()
	g.script(`"multiply"`, 2, fakellm.Tool{Name: "multiply", Input: json.RawMessage(`{"a":6,"b":7}`)})
}

// askedByDriver checks that both tool tasks and the failover took place.
func (g *gateway) askedByDriver(speaks vendor) {
	g.t.Helper()
	first, second := g.members(speaks)
	asked(g.t, first, "call", "answer", "call", "answer", "down")
	asked(g.t, second, "up")
}

// judge fills the cell of a check.
func (e *entry) judge(t *testing.T, r report, speaks vendor) {
	t.Helper()
	ok := false
	switch r.Check {
	case plain, stream:
		ok = r.Error == nil && text(r.Saw) == fakeText
	case tools, streamedTools:
		ok = r.Error == nil && text(r.Saw) == toolText
	case failover:
		ok = r.Error == nil && text(r.Saw) == failoverText
	case models:
		var ids []string
		ok = json.Unmarshal(r.Saw, &ids) == nil && slices.Contains(ids, claudeModel) && slices.Contains(ids, gptModel)
	case embeddings:
		var sizes []int
		ok = json.Unmarshal(r.Saw, &sizes) == nil && len(sizes) > 0 && sizes[0] > 1
	case unknown:
		ok = r.Error != nil && r.Error.Status == 503 && strings.Contains(r.Error.Message, "NO_ROUTE: no route serves the model")
	case wrong:
		ok = r.Error != nil && r.Error.Status == 401 && strings.Contains(r.Error.Message, "invalid_api_key: the key ending in")
	default:
		t.Errorf("no check is named %q", r.Check)
	}
	if !ok {
		t.Errorf("%s with %s: %s %+v", r.Check, speaks.model(), r.Saw, r.Error)
	}
	e.set(r.Check, ok)
	if r.Error != nil {
		e.say(r.Check, r.Error.Name+": "+r.Error.Message)
	}
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// output is what a client that ended left.
type output struct {
	stdout, stderr string
	err            error
}

// run runs a client in the folder home, which is also its home, with no other
// environment than env.
func run(t *testing.T, home string, argv []string, env ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = home, dieWithTest(), 5*time.Second
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "TERM=dumb"}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	return output{stdout.String(), stderr.String(), err}
}
