package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestMediansOfARepeatedBenchmark(t *testing.T) {
	in := `goos: linux
pkg: example/a
BenchmarkX/y-2   	     100	        10.00 ns/op	       8 B/op	       1 allocs/op
BenchmarkX/y-2   	     100	        12.00 ns/op	       8 B/op	       1 allocs/op
BenchmarkX/y-2   	     100	        11.00 ns/op	      16 B/op	       1 allocs/op
BenchmarkBig     	     100	    123456 ns/op	  50 MB/s	       0 B/op	       0 allocs/op
PASS
ok  	example/a	1.0s
`
	var out bytes.Buffer
	if err := run(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"X/y 11ns 9% 8 1", "Big 123µs ∞ 0 0"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if err := run(strings.NewReader("--- FAIL: BenchmarkX\nFAIL\n"), &out); err == nil {
		t.Error("a failure was swallowed")
	}
}
