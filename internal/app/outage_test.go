package app_test

import (
	"database/sql"
	"sync"
	"testing"

	"github.com/interlock-gateway/interlock/internal/testutil/gwtest"
)

// TestOP_4_database_away_while_running: another process holds the database.
// Requests go on being served, their records wait in the spool, changes are
// refused with 503; afterwards each record is stored once.
func TestOP_4_database_away_while_running(t *testing.T) {
	if testing.Short() {
		t.Skip("a change waits 5 s for the database")
	}
	fake := gwtest.NewFake(t)
	dir := t.TempDir()
	s := server(t, dir, "seed", fake.OpenAI("a"), gwtest.Route("r", "gpt-5", "a"))
	db, err := sql.Open("sqlite", "file:"+database(dir)+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ids := map[string]int{}
	changed := make(chan gwtest.Answer, 1)
	go func() {
		changed <- s.Admin(t, "PUT", "/providers/b", `{"type":"openai","baseUrl":"http://127.0.0.1:9/v1"}`)
	}()
	var load sync.WaitGroup
	var answer gwtest.Answer
	done := make(chan struct{})
	go func() { answer = <-changed; close(done) }()
	for range 4 {
		load.Go(func() {
			for {
				got := s.Post(t, chatPath, gwtest.Chat("gpt-5", false))
				if got.Status != 200 {
					t.Errorf("status %d: %s", got.Status, got.Body)
					return
				}
				mu.Lock()
				ids[got.Header.Get("X-Interlock-Request-Id")] = 0
				n := len(ids)
				mu.Unlock()
				select {
				case <-done:
					return
				default:
				}
				if n > 5000 {
					return
				}
			}
		})
	}
	load.Wait()
	<-done
	if answer.Status != 503 {
		t.Errorf("a change meanwhile: %d %s", answer.Status, answer.Body)
	}
	logged(t, s, "audit records cannot be stored")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	logged(t, s, "audit records are stored again")
	for _, r := range records(t, s) {
		ids[r.RequestID]++
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("request %q has %d records", id, n)
		}
	}
	t.Logf("%d requests meanwhile", len(ids)-1)
	admin(t, s, 201, "PUT", "/providers/b", `{"type":"openai","baseUrl":"http://127.0.0.1:9/v1"}`)
}
