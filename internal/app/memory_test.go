package app

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

// TestOP_5_limit_of_a_container: of both versions of control groups, of the
// group itself and those above it; the lowest counts.
func TestOP_5_limit_of_a_container(t *testing.T) {
	const v2, v1 = "sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"none":         {nil, 0},
		"no limit":     {map[string]string{v2: "max\n"}, 0},
		"v2":           {map[string]string{v2: "536870912\n"}, 512 << 20},
		"v1":           {map[string]string{v1: "536870912\n"}, 512 << 20},
		"v1, no limit": {map[string]string{v1: "9223372036854771712\n"}, 0},
		"unit":         {map[string]string{"proc/self/cgroup": "0::/system.slice/interlock.service\n", "sys/fs/cgroup/system.slice/interlock.service/memory.max": "1073741824\n"}, 1 << 30},
		"slice": {map[string]string{
			"proc/self/cgroup":                           "0::/a.slice/b.service\n",
			"sys/fs/cgroup/a.slice/memory.max":           "1000000000\n",
			"sys/fs/cgroup/a.slice/b.service/memory.max": "max\n",
		}, 1_000_000_000},
		"v1 group": {map[string]string{
			"proc/self/cgroup": "12:cpu:/x\n4:memory:/docker/abc\n",
			"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "2000000000\n",
			"sys/fs/cgroup/cpu/x/memory.limit_in_bytes":             "1\n",
		}, 2_000_000_000},
		"nonsense": {map[string]string{v2: "many", "proc/self/cgroup": "::::\n0::/../../x\n"}, 0},
	} {
		files := fstest.MapFS{}
		for path, text := range c.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := containerLimit(files); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestOP_5_the_limit_of_the_collector: the container's, less a tenth, unless
// somebody said otherwise.
func TestOP_5_the_limit_of_the_collector(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	debug.SetMemoryLimit(math.MaxInt64)
	files := fstest.MapFS{"sys/fs/cgroup/memory.max": {Data: []byte("1000000000\n")}}
	if got := LimitMemory(files, "off"); got != 0 {
		t.Errorf("GOMEMLIMIT=off: %d", got)
	}
	if got := LimitMemory(fstest.MapFS{}, ""); got != 0 {
		t.Errorf("nothing says anything: %d", got)
	}
	if got := LimitMemory(files, ""); got != 900_000_000 || debug.SetMemoryLimit(-1) != got {
		t.Errorf("%d", got)
	}
}
