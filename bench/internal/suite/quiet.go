package suite

import (
	"context"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/procstat"
)

// wait returns once the machine has been quiet for half a second, or when
// the time for that is up. The target and the mock are idle meanwhile.
func (q *Quiet) wait(ctx context.Context) {
	time.Sleep(time.Duration(q.Pause))
	if q.MaxOther == 0 {
		return
	}
	look := min(500*time.Millisecond, time.Duration(q.Wait))
	end := time.Now().Add(time.Duration(q.Wait))
	for ctx.Err() == nil && time.Now().Before(end) {
		before, err := procstat.ReadHost()
		if err != nil {
			return
		}
		time.Sleep(look)
		after, err := procstat.ReadHost()
		if err != nil {
			return
		}
		busy := (after.Busy - before.Busy).Seconds() / look.Seconds() / float64(after.CPUs)
		if busy*100 <= q.MaxOther {
			return
		}
	}
}

// How a target is told to be idle again: less than this much CPU time in one
// look, which the clock of /proc can just tell from nothing.
const (
	idleLook  = 250 * time.Millisecond
	idleTicks = 10 * time.Millisecond
	idleWait  = 20 * time.Second
)

// whole is a run being accounted for from before its warm-up to its last work.
type whole struct {
	pid   int
	began time.Duration
}

func beginWhole(pid int) *whole {
	u, err := procstat.ReadTree(pid)
	if pid == 0 || err != nil {
		return nil // the mock itself is not asked what it costs
	}
	return &whole{pid, u.CPU}
}

// end waits until the process has no more to do. What it could not read, such
// as of a target that died, it leaves out.
func (w *whole) end(ctx context.Context, requests int64) *Whole {
	if w == nil {
		return nil
	}
	first, err := procstat.ReadTree(w.pid)
	if err != nil {
		return nil
	}
	last := first
	for end := time.Now().Add(idleWait); ctx.Err() == nil && time.Now().Before(end); {
		time.Sleep(idleLook)
		next, err := procstat.ReadTree(w.pid)
		if err != nil {
			return nil
		}
		used := next.CPU - last.CPU
		last = next
		if used <= idleTicks {
			break
		}
	}
	return &Whole{CPUSeconds: (last.CPU - w.began).Seconds(), TailSeconds: (last.CPU - first.CPU).Seconds(), Requests: requests}
}
