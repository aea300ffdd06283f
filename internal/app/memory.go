package app

import (
	"io/fs"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
)

// unknownMemory is the memory of bodies, in bytes, where nothing says how much
// there is.
const unknownMemory = 1 << 30

// LimitMemory keeps the heap below what the container may have, unless
// GOMEMLIMIT says otherwise: the kernel would kill the process, and the garbage
// collector does not know of that limit. A tenth is left to what it does not
// manage. root is the root of the file system. It returns the limit in bytes, 0
// if there is none.
func LimitMemory(root fs.FS, gomemlimit string) int64 {
	if gomemlimit == "" {
		if limit := containerLimit(root); limit > 0 {
			debug.SetMemoryLimit(limit - limit/10)
		}
	}
	return memoryLimit()
}

// memoryLimit is the limit that the garbage collector keeps; 0 if there is none.
func memoryLimit() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	return 0
}

// containerLimit is the memory that this process's control group may have, of
// version 2 or 1; 0 if it has no limit or no group is to be seen.
func containerLimit(root fs.FS) int64 {
	lowest := int64(0)
	for _, name := range groupFiles(root) {
		b, err := fs.ReadFile(root, name)
		if err != nil {
			continue
		}
		// Version 1 says that there is none with a number close to the largest.
		n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		if err == nil && n > 0 && n < 1<<60 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	return lowest
}

// groupFiles are where limits of the group and of those above it stand. In a
// container its own group is usually the root of what it sees.
func groupFiles(root fs.FS) []string {
	out := []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"}
	b, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return out
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		parts := strings.SplitN(line, ":", 3) // 0::/path, or 4:memory:/path
		if len(parts) < 3 {
			continue
		}
		for dir := strings.Trim(parts[2], "/"); dir != ""; dir = dir[:max(0, strings.LastIndexByte(dir, '/'))] {
			switch {
			case parts[0] == "0":
				out = append(out, "sys/fs/cgroup/"+dir+"/memory.max")
			case parts[1] == "memory":
				out = append(out, "sys/fs/cgroup/memory/"+dir+"/memory.limit_in_bytes")
			}
		}
	}
	return out
}

// bodyMemory is what bodies may hold at once, in bytes: a half of the limit, so
// that the garbage of growing buffers and everything else have the other. The
// largest body fits in any case: while it grows it takes half as much again, its
// copy for a provider with another name for the model takes it once more, and a
// quarter is left to what is small.
func (a *App) bodyMemory() int64 {
	limit, largest := memoryLimit(), a.cfg.Server.MaxBodyBytes
	half := int64(unknownMemory)
	if limit > 0 {
		half = limit / 2
	}
	least := 3 * largest
	if limit > 0 && half < least {
		a.log.Warn("the memory limit (GOMEMLIMIT, or the container's) is small for bodies of server.maxBodyBytes; requests with large bodies can exceed it",
			"memoryLimit", limit, "maxBodyBytes", largest, "advisedLimit", 2*least)
	}
	return max(half, least)
}
