package clients

import "syscall"

// dieWithTest makes a process end when the test does, however it does.
func dieWithTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
