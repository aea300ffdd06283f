package clients

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The checks, which are the columns of the table and the names that drivers
// print.
const (
	plain         = "plain"
	stream        = "stream"
	tools         = "tools"
	streamedTools = "streamed tools"
	failover      = "failover"
	models        = "models"
	embeddings    = "embeddings"
	unknown       = "unknown model"
	wrong         = "wrong key"
)

func columns() []string {
	return []string{plain, stream, tools, streamedTools, failover, models, embeddings, unknown, wrong}
}

// entry is one client, speaking one format: a line of the table.
type entry struct {
	client, version, path string
	checks                []string // what it can do

	mu       sync.Mutex
	ok       map[string]bool
	says     map[string]string // what people see of a refusal
	requests map[string]int    // that a refusal took
}

func newEntry(client, version, path string, checks ...string) *entry {
	return &entry{client: client, version: version, path: path, checks: checks, ok: map[string]bool{}, says: map[string]string{}, requests: map[string]int{}}
}

func (e *entry) set(check string, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ok[check] = ok
}

// say keeps what people see of a refusal.
func (e *entry) say(check, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.says[check] = text
}

// count keeps how many requests the refusals took; it ends the gateway.
func (e *entry) count(g *gateway) {
	counts := map[string]int{wrong: g.refused("invalid_api_key"), unknown: g.refused("NO_ROUTE")}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = counts
}

// complete checks that exactly the checks of the client were made.
func (e *entry) complete(t *testing.T) {
	t.Helper()
	if got, want := slices.Sorted(maps.Keys(e.ok)), slices.Sorted(slices.Values(e.checks)); !slices.Equal(got, want) {
		t.Errorf("%s was checked for %q, want %q", e.client, got, want)
	}
}

func (e *entry) cell(check string) string {
	switch {
	case e.ok[check]:
		return "yes"
	case slices.Contains(e.checks, check):
		return "**no**"
	}
	return "–"
}

// page is where the tables are kept, between two lines of it.
const (
	page       = "../../docs/reference/clients.md"
	pageBegins = "<!-- begin: written by make test-clients -->\n"
	pageEnds   = "<!-- end -->\n"
)

// tables are the two tables of the page.
func tables(entries []*entry) string {
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintln(&b, "| "+strings.Join(cells, " | ")+" |") }
	head := append([]string{"client", "version", "path"}, columns()...)
	line(head...)
	line(slices.Repeat([]string{"---"}, len(head))...)
	for _, e := range entries {
		cells := []string{e.client, e.version, "`" + e.path + "`"}
		for _, c := range columns() {
			cells = append(cells, e.cell(c))
		}
		line(cells...)
	}
	line(append([]string{"Gemini CLI", "not run", "its format is not built yet"}, slices.Repeat([]string{"–"}, len(columns()))...)...)
	fmt.Fprint(&b, "\nWhat people see of two refusals, and how many requests the client sends before it gives up:\n\n")
	line("client", wrong, "requests", unknown, "requests")
	line("---", "---", "---", "---", "---")
	for _, e := range entries {
		line(e.client+", `"+e.path+"`", quoted(e.says[wrong]), strconv.Itoa(e.requests[wrong]), quoted(e.says[unknown]), strconv.Itoa(e.requests[unknown]))
	}
	return b.String()
}

// What differs from run to run, or is long: ids, addresses, and the end of our
// sentence, which is the same for all.
var (
	requestIDs = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`)
	addresses  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	longKey    = regexp.MustCompile(`the key ending in \\?"4567\\?"[^,}"]*administrator for a new one`)
	longRoute  = regexp.MustCompile(`no route serves the model .*modelPatterns`)
)

// quoted makes a message a cell.
func quoted(message string) string {
	message = requestIDs.ReplaceAllString(message, "ID")
	message = addresses.ReplaceAllString(message, "GATEWAY")
	message = longKey.ReplaceAllString(message, "the key …")
	message = longRoute.ReplaceAllString(message, "no route …")
	message = strings.Join(strings.Fields(strings.ReplaceAll(message, "|", "/")), " ")
	return "`" + strings.ReplaceAll(message, "`", "'") + "`"
}

// splitPage gives what is before, between and after the lines that hold the
// tables.
func splitPage(t *testing.T) (before, between, after string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), pageBegins)
	between, after, ok2 := strings.Cut(rest, pageEnds)
	if !ok || !ok2 {
		t.Fatalf("%s has no %q and %q", page, pageBegins, pageEnds)
	}
	return before + pageBegins, between, pageEnds + after
}

// compare checks that the page has what was found, or writes it there.
func compare(t *testing.T, found string, update bool) {
	t.Helper()
	before, between, after := splitPage(t)
	if found == between {
		return
	}
	if !update {
		t.Errorf("%s (-) is not what was found (+); if that is right, run scripts/test-clients.sh -update\n%s",
			page, missing("- ", between, found)+missing("+ ", found, between))
		return
	}
	if err := os.WriteFile(page, []byte(before+found+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// missing are the lines of one text that another does not have.
func missing(mark, from, in string) string {
	var b strings.Builder
	for line := range strings.Lines(from) {
		if !strings.Contains("\n"+in, "\n"+line) {
			b.WriteString(mark + line)
		}
	}
	return b.String()
}
