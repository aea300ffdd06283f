// Command fakellm serves a scripted stand-in for LLM providers: it answers in
// their dialects, fails on demand and records what it was sent. Rules come in
// at run time through /__fake/rules. It is for tests on loopback only. See
// package fakellm.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/interlock-gateway/interlock/internal/fakellm"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fakellm:", err)
		os.Exit(1)
	}
}

func run() error {
	listen := flag.String("listen", "127.0.0.1:8801", "address")
	logFile := flag.String("log", "", "file to append records to, as JSON lines")
	dns := flag.String("dns", "", "also answer every DNS name with 127.0.0.1 here (UDP)")
	sni := flag.String("sni", "", "also accept TLS here, note the server name, close")
	quiet := flag.Bool("quiet", false, "print errors only")
	keep := flag.Int("keep", 0, "records to keep; 0 for the default, -1 for none")
	flag.Parse()

	opts := fakellm.Options{KeepRecords: *keep}
	var log *os.File
	if *logFile != "" {
		f, err := os.OpenFile(*logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		log, opts.Log = f, f
	}
	s := fakellm.New(opts)
	err := serve(s, *listen, *dns, *sni, *quiet)
	// The server first: its last requests still write to the log.
	err = errors.Join(err, s.Close())
	if log != nil {
		err = errors.Join(err, log.Close())
	}
	return err
}

// serve runs until a signal.
func serve(s *fakellm.Server, listen, dns, sni string, quiet bool) error {
	if dns != "" {
		if _, err := s.StartDNS(dns); err != nil {
			return err
		}
	}
	if sni != "" {
		if _, err := s.StartSNI(sni); err != nil {
			return err
		}
	}
	url, err := s.Start(listen)
	if err != nil {
		return err
	}
	if !quiet {
		fmt.Fprintln(os.Stderr, "fakellm: listening on", url)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	return nil
}
