package sqlstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/store"
	"github.com/interlock-gateway/interlock/internal/store/sqlstore"
)

// TestMigrationsAreAppendOnly: a migration that was released never changes.
// Add a line for a new one.
func TestMigrationsAreAppendOnly(t *testing.T) {
	want := map[string]string{
		"sqlite/00001_config.sql":           "2c904982270f086c1c9efef67f4e9cc07705d8877f15588935f23cdcb307cbd8",
		"sqlite/00002_audit.sql":            "7086e87544bc233b019dbeb8e9b8b1a4c004768d9cacdb46f5bfb4992b0fd213",
		"sqlite/00005_console_sessions.sql": "0d1f1c11ef35c454db079efd4e2cceb132ef34f1544d8b4d1cbc4ce60dc3a903",
		"sqlite/00003_audit_packs.sql":      "559afb0f0ed58770c520f6709957d8532e8f83fa31f8139565e3f809f4469427",
	}
	files, err := sqlstore.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		if got := hex.EncodeToString(sum[:]); got != want[name] {
			t.Errorf("%s has the checksum %s, not %q: write a new migration instead of changing one", name, got, want[name])
		}
		if strings.Contains(string(files[name]), "+goose Down") {
			t.Errorf("%s goes back; migrations only go forward", name)
		}
	}
	for name := range want {
		if files[name] == nil {
			t.Errorf("%s is gone", name)
		}
	}
}

// TestOP_7_MigratesFromEveryVersion makes a database of every earlier schema, with
// data, and opens it.
func TestOP_7_MigratesFromEveryVersion(t *testing.T) {
	versions, err := sqlstore.Versions()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		t.Run(fmt.Sprint("version ", v), func(t *testing.T) {
			script, err := os.ReadFile(fmt.Sprintf("testdata/versions/%d.sql", v))
			if err != nil {
				t.Fatalf("every version needs data to migrate: %v", err)
			}
			path := filepath.Join(t.TempDir(), "old.db")
			if err := sqlstore.MakeVersion(t.Context(), path, v, string(script)); err != nil {
				t.Fatal(err)
			}
			s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite:" + path})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			checkConfig(t, s)
			if v >= 2 {
				checkAudit(t, s)
			}
			if err := s.Import(t.Context(), "new", []store.Record{{Time: moment(90)}}, store.Position{Offset: 1}); err != nil {
				t.Error(err)
			}
			sound(t, s)
		})
	}
}

// TestOP_7_MovesRecordsIntoPacks: a large audit of schema version 2, with gaps
// as a deletion leaves them, is the same afterwards.
func TestOP_7_MovesRecordsIntoPacks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	const last = 70_000
	script := fmt.Sprintf(`
		WITH RECURSIVE n (seq) AS (SELECT 3 UNION ALL SELECT seq + 1 + (seq %% 1000 = 0) * 700 FROM n WHERE seq < %d)
		INSERT INTO audit (seq, time, request_id, kind, outcome, code, status, key, team, model, route, provider, data)
		SELECT seq, 1767225600000000 + seq, 'r-' || seq, 'request', CASE seq %% 100 WHEN 7 THEN 'error' ELSE 'allow' END, '', 200 + seq %% 3,
			'key-' || (seq %% 50), 'a', 'm-' || (seq %% 7), 'chat', CASE seq WHEN 40000 THEN 'rare' ELSE 'p' END, '{"n":' || seq || '}'
		FROM n;
		UPDATE audit_head SET seq = %d;
		INSERT INTO audit_blocks (block, min_time, max_time) VALUES (0, 0, 1)`, last, last+5)
	if err := sqlstore.MakeVersion(t.Context(), path, 2, script); err != nil {
		t.Fatal(err)
	}
	s := open(t, sqlstore.Options{URL: "sqlite:" + path})
	all, err := s.Records(t.Context(), store.RecordFilter{}, last)
	if err != nil {
		t.Fatal(err)
	}
	for i, seq := len(all)-1, int64(3); i >= 0; i-- {
		r := all[i]
		want := store.Record{
			Seq: seq, Time: moment(int(seq)), RequestID: fmt.Sprint("r-", seq), Kind: "request", Outcome: "allow", Status: int(200 + seq%3),
			Key: fmt.Sprint("key-", seq%50), Team: "a", Model: fmt.Sprint("m-", seq%7), Route: "chat", Provider: "p", Data: fmt.Appendf(nil, `{"n":%d}`, seq),
		}
		if seq%100 == 7 {
			want.Outcome = "error"
		}
		if seq == 40000 {
			want.Provider = "rare"
		}
		if !reflect.DeepEqual(r, want) {
			t.Fatalf("got %+v, want %+v", r, want)
		}
		if seq++; (seq-1)%1000 == 0 {
			seq += 700
		}
	}
	for _, f := range []store.RecordFilter{{Provider: "rare"}, {RequestID: "r-900"}, {Key: "key-7", Outcome: "error"}, {From: moment(500), To: moment(2800)}} {
		var want []int64
		for _, r := range all {
			if (f.Provider == "" || f.Provider == r.Provider) && (f.RequestID == "" || f.RequestID == r.RequestID) && (f.Key == "" || f.Key == r.Key) &&
				(f.Outcome == "" || f.Outcome == r.Outcome) && (f.From.IsZero() || !r.Time.Before(f.From) && r.Time.Before(f.To)) {
				want = append(want, r.Seq)
			}
		}
		got, err := s.Records(t.Context(), f, last)
		var seqs []int64
		for _, r := range got {
			seqs = append(seqs, r.Seq)
		}
		if err != nil || len(want) == 0 || !slices.Equal(seqs, want) {
			t.Errorf("%+v finds %d records, want %d: %v", f, len(seqs), len(want), err)
		}
	}
	if err := s.Import(t.Context(), "new", []store.Record{{Key: "new"}}, store.Position{Offset: 1}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Records(t.Context(), store.RecordFilter{Key: "new"}, 2); len(got) != 1 || got[0].Seq != last+6 || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if n, err := s.DeleteBefore(t.Context(), moment(last+9), 2*last); n < len(all) || err != nil {
		t.Errorf("%d of %d are deleted: %v", n, len(all)+1, err)
	}
	sound(t, s)
}

// moment is one of the times in the data of old versions.
func moment(us int) time.Time { return time.UnixMicro(1767225600000000 + int64(us)).UTC() }

func checkConfig(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	state, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &store.State{
		Revision: 3,
		Documents: []store.Document{
			{Kind: "Key", Name: "ci", ID: "key-2", Version: 1, Owner: "api", Spec: []byte(`{"team":"b"}`), CreatedAt: moment(3), UpdatedAt: moment(3)},
			{Kind: "Route", Name: "chat", Version: 2, Owner: "file", Source: "interlock.yaml:7", Spec: []byte(`{"v":2}`), CreatedAt: moment(1), UpdatedAt: moment(2)},
		},
		Keys: []store.KeySecret{
			{Hash: [32]byte{31: 1}, KeyID: "key-1", Last4: "aaaa", CreatedAt: moment(1), RevokedAt: moment(2)},
			{Hash: [32]byte{31: 3}, KeyID: "key-2", Last4: "cccc", CreatedAt: moment(2), EndsAt: moment(9)},
			{Hash: [32]byte{31: 2}, KeyID: "key-2", Last4: "bbbb", CreatedAt: moment(3)},
		},
	}
	if diff := cmp.Diff(want, state); diff != "" {
		t.Errorf("the configuration differs (-want +got):\n%s", diff)
	}
	replay(t, s)
}

func checkAudit(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	for _, tc := range []struct {
		filter store.RecordFilter
		want   []int64
	}{
		{store.RecordFilter{}, []int64{514, 512, 511, 510}},
		{store.RecordFilter{Provider: "p"}, []int64{511, 510}},
		{store.RecordFilter{Kind: "admin"}, []int64{514}},
		{store.RecordFilter{Key: "ci", Outcome: "error"}, []int64{511}},
		{store.RecordFilter{From: moment(11), To: moment(13)}, []int64{512, 511}},
	} {
		records, err := s.Records(t.Context(), tc.filter, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, r := range records {
			got = append(got, r.Seq)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%+v finds %v, want %v", tc.filter, got, tc.want)
		}
	}
	if at, err := s.Imported(t.Context(), "spool"); err != nil || at != (store.Position{Segment: 3, Offset: 99}) {
		t.Errorf("the place in the spool is %v: %v", at, err)
	}
}

// TestOpenRefusesANewerSchema: an older program would misread what a newer one wrote.
func TestOpenRefusesANewerSchema(t *testing.T) {
	o := sqlstore.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "new.db")}
	s := open(t, o)
	if err := s.Exec(t.Context(), `INSERT INTO schema_versions (version_id, is_applied) VALUES (99, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := sqlstore.Open(t.Context(), o)
	if !errors.Is(err, sqlstore.ErrNewerSchema) || !strings.Contains(err.Error(), "version 99") {
		t.Fatalf("got %v", err)
	}
}

// TestOP_7_OpensAtOnce: whoever comes second while a new file is made waits.
func TestOP_7_OpensAtOnce(t *testing.T) {
	for range 3 {
		o := sqlstore.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := sqlstore.Open(t.Context(), o)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				if _, err := s.Update(t.Context(), time.Now(), nextRevision); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n, err := open(t, o).Current(t.Context()); n != 8 || err != nil {
			t.Errorf("revision %d: %v", n, err)
		}
	}
}

// TestSchemaTiesDocumentsToRevisions: not even a statement by hand makes half a
// revision.
func TestSchemaTiesDocumentsToRevisions(t *testing.T) {
	s := open(t, sqlstore.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
	for range 2 {
		if _, err := s.Update(t.Context(), time.Now(), nextRevision); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range []string{
		"DELETE FROM revisions WHERE number = 1",
		"UPDATE documents SET from_rev = 99",
		"UPDATE documents SET to_rev = from_rev",
		"UPDATE documents SET to_rev = NULL",
		"UPDATE documents SET id = 'same'",
	} {
		if err := s.Exec(t.Context(), statement); err == nil {
			t.Errorf("%s was done", statement)
		}
	}
	replay(t, s)
}
