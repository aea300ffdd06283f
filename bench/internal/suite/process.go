package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is a child with its output in a log file.
type process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
}

// launch starts a server and waits until it answers. It tells how long that
// took.
func launch(ctx context.Context, command []string, env map[string]string, dir string, ready func() bool) (*process, time.Duration, error) {
	if ready() { // a server left over from something else would be measured instead
		return nil, 0, errors.New("another server answers on its address already")
	}
	p, err := start(command, env, dir)
	if err != nil {
		return nil, 0, err
	}
	took, err := waitFor(ctx, p, ready)
	if err != nil {
		p.stop()
		return nil, 0, err
	}
	return p, took, nil
}

func start(command []string, env map[string]string, dir string) (*process, error) {
	if len(command) == 0 {
		return nil, errors.New("no command")
	}
	log, err := os.CreateTemp("", "interlock-bench-*.log")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // stop ends it: SIGTERM first, so that a target can drain
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = os.Environ()
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	// If this program dies, so do the servers it started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	p := &process{cmd, log, make(chan struct{})}
	if err := cmd.Start(); err != nil {
		p.removeLog()
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // how a server ends is told by its log
		close(p.done)
	}()
	return p, nil
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended by itself
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	p.removeLog()
}

func (p *process) removeLog() {
	_ = p.log.Close()
	_ = os.Remove(p.log.Name())
}

// waitFor polls ready every millisecond, for up to a minute.
func waitFor(ctx context.Context, p *process, ready func() bool) (time.Duration, error) {
	began := time.Now()
	for !ready() {
		select {
		case <-p.done:
			return 0, fmt.Errorf("%s ended: %s", filepath.Base(p.cmd.Path), p.output())
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Millisecond):
		}
		if time.Since(began) > time.Minute {
			return 0, fmt.Errorf("%s is not ready after a minute: %s", filepath.Base(p.cmd.Path), p.output())
		}
	}
	return time.Since(began), nil
}

// output is the end of what the process has printed.
func (p *process) output() []byte {
	const most = 2000
	b, err := os.ReadFile(p.log.Name())
	if err != nil {
		return []byte(err.Error())
	}
	return b[max(0, len(b)-most):]
}
