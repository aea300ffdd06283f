// Loadgen measures one HTTP endpoint and prints a JSON report. See README.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/bench/internal/load"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("loadgen: ")
	cfg := load.Config{API: load.OpenAI, Watch: map[string]int{}}
	flag.StringVar(&cfg.URL, "url", "http://127.0.0.1:9101/v1/chat/completions", "endpoint, http only")
	flag.IntVar(&cfg.Concurrency, "c", 16, "connections; in an open loop, the most requests in flight")
	flag.Float64Var(&cfg.Rate, "rate", 0, "requests a second (open loop); 0 sends as fast as answers come (closed loop)")
	flag.DurationVar(&cfg.Duration, "d", 5*time.Second, "measured time")
	flag.DurationVar(&cfg.Warmup, "warmup", time.Second, "time before that")
	flag.DurationVar(&cfg.Timeout, "timeout", 30*time.Second, "limit for one request")
	flag.BoolVar(&cfg.Stream, "stream", false, "ask for server-sent events")
	api := flag.String("api", "openai", "request format: openai or anthropic")
	model := flag.String("model", "gpt-4o-mini", "model to name in the request")
	size := flag.Int("size", 512, "request body size in bytes")
	bodyFile := flag.String("body", "", "file to send instead of a made-up body")
	label := flag.String("label", "", "label to put into the report")
	flag.Func("H", "extra header 'Name: value' (repeatable)", func(s string) error {
		if !strings.Contains(s, ":") {
			return fmt.Errorf("not a header")
		}
		cfg.Headers = append(cfg.Headers, s)
		return nil
	})
	flag.Func("watch", "name=pid of a process to measure (repeatable)", func(s string) error {
		name, pid, _ := strings.Cut(s, "=")
		n, err := strconv.Atoi(pid)
		cfg.Watch[name] = n
		return err
	})
	flag.Parse()
	cfg.API = load.API(*api)

	var err error
	if *bodyFile != "" {
		cfg.Body, err = os.ReadFile(*bodyFile)
	} else {
		cfg.Body, err = load.ChatBody(cfg.API, *model, *size, cfg.Stream)
	}
	if err != nil {
		log.Fatal(err)
	}
	res, err := load.Run(cfg)
	if err != nil {
		log.Fatal(err)
	}
	res.Label = *label
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(res); err != nil {
		log.Fatal(err)
	}
}
