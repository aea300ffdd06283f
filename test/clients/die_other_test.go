//go:build unix && !linux

package clients

import "syscall"

// dieWithTest does not on this system: a test that is killed leaves its
// processes behind.
func dieWithTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
