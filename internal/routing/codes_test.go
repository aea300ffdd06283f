package routing_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/routing"
)

// The lists of codes are written by hand: what the source has is in them.
func TestCodes_lists_what_the_package_says(t *testing.T) {
	said := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?m)Code: "([\w-]+)"|^\s+[cC]ode\w+ += "([\w-]+)"|^const Code\w+ = "([\w-]+)"`)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(src), -1) {
			said[m[1]+m[2]+m[3]] = true
		}
	}
	listed := map[string]bool{}
	for _, s := range []routing.Stage{routing.StageRoute, routing.StageMember, routing.StageRefusal} {
		for _, c := range routing.Codes(s) {
			listed[c] = true
		}
	}
	if got, want := slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(said)); !slices.Equal(got, want) {
		t.Errorf("listed %q\nbut the source has %q", got, want)
	}
}
