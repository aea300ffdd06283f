package sqlstore_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// childURL tells TestChild that it is a process of its own and which store it
// writes to; childUpdates how often.
const (
	childURL     = "INTERLOCK_TEST_CHILD_URL"
	childUpdates = "INTERLOCK_TEST_CHILD_UPDATES"
)

// TestChild is not a test: other tests start it as a process.
func TestChild(t *testing.T) {
	url := os.Getenv(childURL)
	if url == "" {
		t.Skip("started by other tests only")
	}
	n, _ := strconv.Atoi(os.Getenv(childUpdates))
	s := open(t, sqlstore.Options{URL: url, BusyTimeout: time.Minute})
	for range n {
		state, err := s.Update(t.Context(), time.Now(), nextRevision)
		if err != nil {
			t.Fatal(err)
		}
		// Only one child numbers records after revisions; where several run,
		// the others are too late.
		err = s.Import(t.Context(), "spool", []store.Record{{Time: time.Now(), Provider: "p"}, {Time: time.Now(), Key: "k"}}, store.Position{Offset: state.Revision})
		if err != nil && !errors.Is(err, store.ErrImported) {
			t.Fatal(err)
		}
		fmt.Println("done", state.Revision)
	}
}

// nextRevision writes the number of the revision into seven documents, deletes
// one, and adds a secret.
func nextRevision(s *store.State) (*store.Write, error) {
	n := s.Revision + 1
	w := &store.Write{Summary: fmt.Sprint(n), AddKeys: []store.KeySecret{{Hash: [32]byte{byte(n), byte(n >> 8), byte(n >> 16)}, KeyID: "k"}}}
	for i := range int64(8) {
		name := fmt.Sprint("r", i)
		if i != n%8 {
			w.Put = append(w.Put, store.Document{Kind: "Route", Name: name, Owner: store.OwnerAPI, Spec: fmt.Appendf(nil, `{"n":%d}`, n)})
		} else if n > 1 {
			w.Delete = append(w.Delete, store.DocumentRef{Kind: "Route", Name: name})
		}
	}
	return w, nil
}

func child(t *testing.T, url string, updates int) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), childURL+"="+url, childUpdates+"="+strconv.Itoa(updates))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestOP_6_KilledWriter kills a process that writes, at any moment, and looks at
// what it leaves: everything that was done, and nothing half.
func TestOP_6_KilledWriter(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	rounds := 10
	if testing.Short() || raceDetector {
		rounds = 4
	}
	for range rounds {
		done := killWriter(t, url)
		s := open(t, sqlstore.Options{URL: url})
		sound(t, s)
		checkRevisions(t, s, done)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killWriter starts a writer, kills it in the middle and returns the last
// revision that it had done.
func killWriter(t *testing.T, url string) (done int64) {
	t.Helper()
	cmd := child(t, url, 1_000_000)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	last := 3 + rand.IntN(20)
	for i := 0; lines.Scan(); i++ {
		if _, err := fmt.Sscanf(lines.Text(), "done %d", &done); err != nil {
			t.Fatalf("the writer failed: %s", lines.Text())
		}
		if i == last {
			// Somewhere in the next updates.
			time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
	return done
}

// checkRevisions compares documents, secrets, revisions and records, which have
// to be of one piece.
func checkRevisions(t *testing.T, s *sqlstore.Store, done int64) {
	t.Helper()
	state, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if state.Revision < done || len(state.Keys) != int(state.Revision) || len(state.Documents) != 7 {
		t.Fatalf("revision %d with %d secrets and %d documents after %d was done", state.Revision, len(state.Keys), len(state.Documents), done)
	}
	for _, d := range state.Documents {
		if want := fmt.Sprintf(`{"n":%d}`, state.Revision); string(d.Spec) != want {
			t.Fatalf("%s is %s, want %s", d.Name, d.Spec, want)
		}
	}
	at, err := s.Imported(t.Context(), "spool")
	if err != nil {
		t.Fatal(err)
	}
	if at.Offset < done || at.Offset > state.Revision {
		t.Fatalf("records are imported up to %d after %d was done", at.Offset, done)
	}
	for _, f := range []store.RecordFilter{{Provider: "p"}, {Key: "k"}} {
		records, err := s.Records(t.Context(), f, 1_000_000)
		if err != nil || len(records) == 0 || len(records) > int(at.Offset) {
			t.Fatalf("%+v: %d records at %d: %v", f, len(records), at.Offset, err)
		}
	}
	replay(t, s)
}

// replay makes the changes of all revisions one after the other, and compares
// with what the store has for each.
func replay(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	revisions, err := s.Revisions(t.Context(), 0, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	specs := map[store.DocumentRef]json.RawMessage{}
	for i, r := range slices.Backward(revisions) {
		if r.Number != int64(len(revisions)-i) {
			t.Fatalf("revision %d is at place %d", r.Number, len(revisions)-i)
		}
		for _, c := range r.Changes {
			ref := store.DocumentRef{Kind: c.Kind, Name: c.Name}
			if string(specs[ref]) != string(c.Before) {
				t.Fatalf("revision %d: %v was %s, not %s", r.Number, ref, specs[ref], c.Before)
			}
			specs[ref] = c.After
			if c.After == nil {
				delete(specs, ref)
			}
		}
		docs, err := s.At(t.Context(), r.Number)
		if err != nil {
			t.Fatal(err)
		}
		got := map[store.DocumentRef]json.RawMessage{}
		for _, d := range docs {
			got[store.DocumentRef{Kind: d.Kind, Name: d.Name}] = d.Spec
		}
		if diff := cmp.Diff(specs, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("documents at revision %d differ from its changes (-changes +documents):\n%s", r.Number, diff)
		}
	}
}

// sound has SQLite check the file.
func sound(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	for pragma, want := range map[string]int{"PRAGMA integrity_check": 1, "PRAGMA foreign_key_check": 0} {
		got, err := s.Strings(t.Context(), pragma)
		if err != nil || len(got) != want || want == 1 && got[0] != "ok" {
			t.Fatalf("%s: %v, %v", pragma, got, err)
		}
	}
}

// TestOP_7_ProcessesStartAtOnce: several processes open a new file. They migrate
// it once and write one after the other.
func TestOP_7_ProcessesStartAtOnce(t *testing.T) {
	const processes, updates = 5, 8
	url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	var wg sync.WaitGroup
	for range processes {
		cmd := child(t, url, updates)
		wg.Go(func() {
			if out, err := cmd.Output(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	s := open(t, sqlstore.Options{URL: url})
	sound(t, s)
	state, err := s.Load(t.Context())
	if err != nil || state.Revision != processes*updates || len(state.Keys) != processes*updates {
		t.Fatalf("%+v, %v", state, err)
	}
	replay(t, s)
}
