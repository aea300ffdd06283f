package admin_test

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/admin"
)

// BenchmarkNew is what building the API adds to a start.
func BenchmarkNew(b *testing.B) {
	e := newEnv(b)
	for b.Loop() {
		if _, err := admin.New(admin.Options{Control: e.control, Records: e.store, Auth: admin.NewTokens().Authenticate}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPut is one save, with everything that it checks and writes.
func BenchmarkPut(b *testing.B) {
	e := newEnv(b)
	e.provider("main")
	bodies := []map[string]any{routeBody("main", "gpt-*"), routeBody("main", "o3-*")}
	n := 0
	for b.Loop() {
		n++
		if a := e.admin("PUT", "/routes/chat", bodies[n%2]); a.status > 201 {
			b.Fatal(a.status)
		}
	}
}
