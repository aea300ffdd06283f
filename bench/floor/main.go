// Floor is the least that a gateway could be: it forwards one POST to an
// upstream over kept connections. What Interlock costs is told as a ratio to
// it, measured in the same run, since figures in microseconds change with the
// machine.
//
// It is a module of its own, so that no change to Interlock moves its floor.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("floor: ")
	kind := flag.String("kind", "nethttp", "revproxy | nethttp | nethttp-rawup")
	listen := flag.String("listen", "127.0.0.1:9200", "address to listen on")
	upstream := flag.String("upstream", "127.0.0.1:9101", "address to forward to")
	flag.Parse()

	h, err := handler(*kind, *upstream)
	if err != nil {
		log.Fatal(err)
	}
	s := &http.Server{Addr: *listen, Handler: h, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(s.ListenAndServe())
}

func handler(kind, upstream string) (http.Handler, error) {
	switch kind {
	case "revproxy":
		return revproxy(upstream), nil
	case "nethttp":
		return newForwarder(upstream), nil
	case "nethttp-rawup":
		return newRawForwarder(upstream), nil
	}
	return nil, fmt.Errorf("no kind %q", kind)
}
