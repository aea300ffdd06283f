package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func watched(total time.Duration) (context.Context, *watchdog) {
	d := newWatchdog(context.Background(), total)
	return d, d
}

func fired(ctx context.Context) string {
	if e, ok := errors.AsType[*timeoutError](context.Cause(ctx)); ok {
		return e.what
	}
	return ""
}

func TestWatchdog_RT_FO_TIME_cancels_at_the_limit_and_names_it(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d := watched(0)
		defer d.stop()
		d.expect(5*time.Second, &whatHeader)
		time.Sleep(5*time.Second - time.Nanosecond)
		synctest.Wait()
		if fired(ctx) != "" {
			t.Fatal("fired early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if fired(ctx) != whatHeader {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}

func TestWatchdog_progress_moves_the_limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d := watched(0)
		defer d.stop()
		d.expect(10*time.Second, &whatHeader)
		for range 20 {
			time.Sleep(9 * time.Second)
			d.expect(10*time.Second, &whatIdle)
		}
		synctest.Wait()
		if fired(ctx) != "" {
			t.Fatal("fired although bytes came")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if fired(ctx) != whatIdle {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}

func TestWatchdog_a_sooner_limit_replaces_a_later_one(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d := watched(0)
		defer d.stop()
		d.expect(time.Hour, &whatHeader)
		d.expect(time.Second, &whatIdle)
		time.Sleep(time.Second)
		synctest.Wait()
		if fired(ctx) != whatIdle {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}

func TestWatchdog_zero_is_no_limit_until_one_comes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d := watched(0)
		defer d.stop()
		d.expect(0, &whatHeader)
		time.Sleep(24 * time.Hour)
		d.expect(time.Second, &whatIdle)
		time.Sleep(time.Second)
		synctest.Wait()
		if fired(ctx) != whatIdle {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}

func TestWatchdog_the_total_bounds_every_limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d := watched(30 * time.Second)
		defer d.stop()
		for range 3 {
			d.expect(20*time.Second, &whatIdle)
			time.Sleep(9 * time.Second)
		}
		d.expect(0, &whatIdle)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if fired(ctx) != whatTotal {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}

func TestWatchdog_stopped_does_nothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d := watched(0)
		d.expect(time.Second, &whatHeader)
		d.stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}

func TestWatchdog_only_the_total_hurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, total := range []time.Duration{time.Second, time.Minute} {
			late := 0
			_, d := watched(total)
			d.onTotal(func() { late++ })
			d.expect(10*time.Second, &whatIdle)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if (late == 1) != (total == time.Second) {
				t.Errorf("hurried %d times with a total of %v", late, total)
			}
			d.stop()
		}
	})
}
