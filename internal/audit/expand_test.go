package audit

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// full is a record that has every field.
func full() *Record {
	r := sample()
	r.Policy, r.Code, r.Category = "policy-x", "code_x", "category_x"
	r.Caller = Caller{Key: "ci", User: "ann", Team: "platform", Department: "it", Source: "service", Workload: "build"}
	r.Usage.CachedWrite = 40
	r.Message = "message"
	r.SessionHash, r.CredentialFallback, r.Estimated, r.Retries = "0123456789abcdef0123456789abcdef", true, true, 1
	r.Tags = []string{TagOrgKeyFallback}
	r.Attempts[0].Credential, r.Attempts[1].Credential, r.Attempts[1].CredentialFallback = "caller", "own", true
	retry := r.Attempts[1]
	retry.Retry = true
	r.Attempts = append(r.Attempts, retry)
	r.Skips = []Skip{{
		Provider: "openai-c", WireModel: "gpt-5", Residency: "eu", Reason: "parked", Until: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		Category: "quota_exhausted", Status: 402,
	}}
	r.Facts = json.RawMessage(`{"tokens":12}`)
	r.Attempts[0].Code, r.Attempts[0].Residency, r.Attempts[0].Strategy, r.Attempts[0].StrategyReason = "rate_limit_error", "us", "weighted", "weight 70"
	r.Admin = &AdminChange{Actor: "token:abcd", Summary: `update Route "chat"`, Revision: 43, Changes: json.RawMessage(`[{"kind":"Route","name":"chat"}]`)}
	return r
}

// TestRS_AUDIT_rows: what the API, the export and the console show of each
// kind of record.
func TestRS_AUDIT_rows(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 890123000, time.UTC)
	for name, r := range map[string]*Record{
		"full":   full(),
		"served": sample(),
		"denied": {
			Kind: KindRequest, Time: now, RequestID: "01D", Outcome: OutcomeDeny, Policy: "no-grant", Code: "MODEL_DENIED", Status: 400,
			Endpoint: "messages", ClientFormat: "anthropic-messages", RequestedModel: "claude-x", Duration: Millis(750 * time.Microsecond), ConfigVersion: 3,
		},
		"failed": {
			Kind: KindRequest, Time: now, RequestID: "01E", Outcome: OutcomeError, Code: "upstream_error", Status: 502, Category: "server_error",
			Caller: Caller{Key: "ci", Source: "pat"}, Endpoint: "messages", RequestedModel: "claude-x", RouteName: "claude", Provider: "b", WireModel: "claude-x", Credential: "own",
			Attempts: []Attempt{
				{Provider: "a", WireModel: "claude-x", Outcome: OutcomeError, Category: "connect", Start: Millis(time.Millisecond), Duration: Millis(2 * time.Millisecond)},
				{Provider: "b", WireModel: "claude-x", Outcome: OutcomeError, Category: "server_error", Status: 500, Start: Millis(4 * time.Millisecond), Duration: Millis(3 * time.Millisecond)},
			},
			Duration: Millis(8 * time.Millisecond), ConfigVersion: 3,
		},
		"admin": {Kind: KindAdmin, Time: now, Outcome: OutcomeAllow, Admin: full().Admin},
		"event": {Kind: KindEvent, Time: now, Code: "breaker_open", Message: "the breaker of a opened"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := Rows(store.Record{Seq: 17, Data: r.AppendJSON(nil)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(rows, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "rows", name+".json")
			if *update {
				if err := os.WriteFile(path, append(got, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.TrimSpace(string(want)), string(got)); d != "" {
				t.Errorf("(-want +got; run with -update after a deliberate change):\n%s", d)
			}
		})
	}
}

// specNames are the names of an audit event in RS-AUDIT.
const specNames = `id, time, requestId, kind, outcome, policy, code, status, category, caller, key, user, team, department, source, workload,
	sessionHash, endpoint, clientFormat, stream, requestedModel, servedModel, wireModel, routeName, poolName, provider, residency, ruleName, bindingName,
	attempt, attempts, retries, skipReason, until, failover, tags, routeStrategy, routeStrategyReason, credential, credentialFallback,
	usage, input, cachedRead, cachedWrite, output, reasoning, estimated, costUsd, ttftMs, durationMs, warnings, losses, configVersion`

// TestRS_AUDIT_names: a row has no other names than the specification, but
// for what an administrator did and the text of an event.
func TestRS_AUDIT_names(t *testing.T) {
	known := strings.FieldsFunc(specNames+", admin, message", func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
	rows, err := Rows(store.Record{Seq: 1, Data: full().AppendJSON(nil)})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range rows {
		b, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(b, &fields); err != nil {
			t.Fatal(err)
		}
		for _, inner := range []string{"caller", "usage"} {
			nested, _ := fields[inner].(map[string]any)
			for name := range nested {
				seen[name] = true
			}
		}
		for name := range fields {
			seen[name] = true
		}
	}
	for name := range seen {
		if !slices.Contains(known, name) {
			t.Errorf("the name %q is not in RS-AUDIT", name)
		}
	}
	// Every field of a row is filled from a record that has everything.
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Row]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !seen[name] {
			t.Errorf("no row has %q", name)
		}
	}
}

// TestRS_AUDIT_the_request_row_repeats_what_served: policy, provider and
// route are those of its last attempt, and it is the newest of its request.
func TestRS_AUDIT_the_request_row_repeats_what_served(t *testing.T) {
	rows, err := Rows(store.Record{Seq: 5, Data: sample().AppendJSON(nil)})
	if err != nil {
		t.Fatal(err)
	}
	kinds := make([]string, len(rows))
	for i, r := range rows {
		kinds[i] = r.Kind
		if want := "5." + string(rune('0'+i)); r.ID != want {
			t.Errorf("row %d has the id %s, want %s", i, r.ID, want)
		}
		if i > 0 && r.Time.After(rows[i-1].Time) {
			t.Errorf("row %d is newer than the one before it", i)
		}
		if r.PoolName != r.RouteName {
			t.Errorf("poolName %q is not routeName %q", r.PoolName, r.RouteName)
		}
	}
	if got := strings.Join(kinds, " "); got != "request attempt attempt" {
		t.Fatalf("rows: %s", got)
	}
	if rows[0].Provider != rows[1].Provider || !rows[0].Failover || rows[1].Attempt != 2 || rows[0].Attempts != 2 {
		t.Errorf("request %+v, last attempt %+v", rows[0], rows[1])
	}
}

// TestRS_AUDIT_rows_of_damage: a record that can't be read is an error with
// its number.
func TestRS_AUDIT_rows_of_damage(t *testing.T) {
	if _, err := Rows(store.Record{Seq: 23, Data: []byte(`{"kind":`)}); err == nil || !strings.Contains(err.Error(), "23") {
		t.Errorf("error: %v", err)
	}
}

// TestRS_AUDIT_hostile_text: whatever a client names its model, a record is
// one line of valid JSON without NUL.
func TestRS_AUDIT_hostile_text(t *testing.T) {
	for _, text := range []string{"\x00", "\xff\xfe", "a\nb\r", "\u2028", `"}`, `\`, strings.Repeat("\x7f", 3), "\xe2\x82", "a\x00b", `x {"kind":"request"`} {
		r := &Record{Kind: KindRequest, RequestedModel: text, Message: text, Caller: Caller{Key: text}}
		b := r.AppendJSON(nil)
		if strings.ContainsAny(string(b), "\x00\n\r") || !json.Valid(b) {
			t.Errorf("%q becomes %q", text, b)
		}
		var back Record
		if err := json.Unmarshal(b, &back); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if want := strings.ReplaceAll(string([]rune(text)), "\x00", "\uFFFD"); back.RequestedModel != want {
			t.Errorf("%q reads back as %q", text, back.RequestedModel)
		}
	}
	if b := (&Record{Kind: KindRequest, Usage: llm.Usage{Output: -1}, Duration: -5}).AppendJSON(nil); !json.Valid(b) {
		t.Errorf("negative numbers: %s", b)
	}
}
