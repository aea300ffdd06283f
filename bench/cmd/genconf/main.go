// Genconf writes a configuration of Interlock with as many routes and keys as
// a measurement asks for. Requests ask for the last route with the last key:
//
//	model vendor-00099/gpt-4o-mini, key ilk_bench_00099_0123456789abcdef
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("genconf: ")
	n := flag.Int("routes", 100, "routes, and as many keys")
	providers := flag.Int("providers", 10, "providers, at least 3")
	upstream := flag.String("upstream", "http://127.0.0.1:9101/v1", "where all of them lead")
	listen := flag.String("listen", "127.0.0.1:8091", "address to listen on")
	dir := flag.String("dir", ".", "folder for NAME.yaml and NAME.docs.yaml")
	name := flag.String("name", "routes", "of the files, and of the folder of the data beside them")
	flag.Parse()
	if *n < 1 || *providers < 3 {
		log.Fatal("at least one route and three providers")
	}
	// One file would have more keys than the configuration may.
	write(filepath.Join(*dir, *name+".yaml"), settings(*name, *listen))
	write(filepath.Join(*dir, *name+".docs.yaml"), documents(*n, *providers, *upstream))
}

func write(path string, text []byte) {
	if err := os.WriteFile(path, text, 0o644); err != nil {
		log.Fatal(err)
	}
}

func settings(name, listen string) []byte {
	return fmt.Appendf(nil, `# Written by bench/cmd/genconf.
server: {listen: %[2]s}
storage: {url: sqlite:%[1]s/interlock.db, dataDir: %[1]s}
telemetry: {logLevel: warn} # a line for each request would measure the terminal
resources: {mode: seed, files: [%[1]s.docs.yaml]}
`, name, listen)
}

// documents lets each provider have its own name for the model that is asked
// for, so that the body is changed on the way, as vendors need it. Each route
// has the kinds of patterns that people write, three members to fail over to,
// and a key of its own.
func documents(n, providers int, upstream string) []byte {
	var b bytes.Buffer
	for i := range providers {
		fmt.Fprintf(&b, `---
kind: Provider
name: p%02d
type: openai
baseUrl: %s
apiKey: sk-bench-%02d
residency: eu
modelAliases: {vendor-%05d/gpt-4o-mini: gpt-4o-mini-2026}
`, i, upstream, i, n-1)
	}
	for i := range n {
		fmt.Fprintf(&b, `---
kind: Route
name: r%05[1]d
modelPatterns: [vendor-%05[1]d/*, "*-tuned-%05[1]d", model-%05[1]d-2026-11]
members: [{provider: p%02[2]d}, {provider: p%02[3]d}, {provider: p%02[4]d, fallbackOnly: true}]
---
kind: Key
name: k%05[1]d
type: service
secret: ilk_bench_%05[1]d_0123456789abcdef
`, i, i%providers, (i+1)%providers, (i+2)%providers)
	}
	return b.Bytes()
}
