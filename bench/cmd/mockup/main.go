// Mockup serves a fake OpenAI and Anthropic upstream. See README.md.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/interlock-gateway/interlock/bench/internal/mock"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("mockup: ")
	addr := flag.String("listen", "127.0.0.1:9101", "address to listen on")
	options := flag.String("options", "", "default options, such as latency=20ms,chunks=50")
	flag.Parse()

	defaults, err := mock.ParseOptions(mock.DefaultOptions(), *options)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *addr) //nolint:noctx // nobody cancels the start of a command
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		l.Close()
	}()
	fmt.Printf("mockup on http://%s (pid %d)\n", l.Addr(), os.Getpid())
	if err := mock.New(defaults).Serve(l); err != nil {
		log.Fatal(err)
	}
}
