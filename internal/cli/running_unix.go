//go:build unix

package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// holder finds the process that has an SQLite database open: each connection
// holds a shared lock on the index of the write-ahead log for as long as it
// lasts. It must be called before this process opens the database, whose locks
// would be lost when the file is closed here.
func holder(database string) (pid int, open bool, err error) {
	for _, path := range []string{database, database + "-shm"} {
		pid, open, err = lockedBy(path)
		if open || err != nil {
			return pid, open, err
		}
	}
	return 0, false, nil
}

func lockedBy(path string) (pid int, locked bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the administrator names the database
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	whole := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &whole); err != nil {
		return 0, false, err
	}
	return int(whole.Pid), whole.Type != syscall.F_UNLCK, nil
}
