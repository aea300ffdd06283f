package statetest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func isTrue(t *testing.T, ok bool, what string, args ...any) {
	t.Helper()
	if !ok {
		t.Fatalf(what, args...)
	}
}

func isEqual(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("-want +got\n%s", d)
	}
}

func isZero(t *testing.T, got any) {
	t.Helper()
	if v := reflect.ValueOf(got); !v.IsZero() && (v.Kind() != reflect.Map && v.Kind() != reflect.Slice || v.Len() > 0) {
		t.Fatalf("got %+v", got)
	}
}
