//go:build unix

package app

import "syscall"

// maxFiles is how many files and connections the process may have open; 0 if
// that is not known.
func maxFiles() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	// Go has raised it to what it may be raised to.
	return uint64(l.Cur) //nolint:unconvert // it is signed on some systems
}
