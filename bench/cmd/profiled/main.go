// Profiled is cmd/interlock with a CPU profile of itself: it begins on SIGUSR1
// and is written into the file that BENCH_PROFILE names when the server ends.
// It is for measurements only; the product has no way to be profiled from
// outside.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"

	"github.com/interlock-gateway/interlock/internal/cli"
)

func main() {
	stop := func() {}
	if path := os.Getenv("BENCH_PROFILE"); path != "" {
		f, err := os.Create(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "profiled:", err)
			os.Exit(1)
		}
		begin := make(chan os.Signal, 1)
		signal.Notify(begin, syscall.SIGUSR1)
		go func() {
			<-begin // so that starting and compiling is not in it
			if err := pprof.StartCPUProfile(f); err != nil {
				fmt.Fprintln(os.Stderr, "profiled:", err)
			}
		}()
		stop = func() {
			pprof.StopCPUProfile() // writes it, if one was begun
			f.Close()
		}
	}
	code := cli.Main(os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
