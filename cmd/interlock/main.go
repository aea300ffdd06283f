// Command interlock is the LLM gateway.
package main

import (
	"os"

	"github.com/interlock-gateway/interlock/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
