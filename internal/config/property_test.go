package config_test

import (
	"fmt"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/config"
)

// anyConfig draws a configuration that this version takes.
func anyConfig(t *rapid.T) *config.Config {
	c := config.Default()
	c.Server.Listen = rapid.SampledFrom([]string{":0", "127.0.0.1:8080", "[::1]:1", "host.example:65535"}).Draw(t, "listen")
	c.Server.PublicURL = rapid.SampledFrom([]string{"", "https://llm.example/x", "http://a:1"}).Draw(t, "publicUrl")
	c.Server.MaxBodyBytes = rapid.Int64Range(1, 1<<30).Draw(t, "maxBodyBytes")
	c.Server.MaxInFlight = rapid.IntRange(1, 1_000_000).Draw(t, "maxInFlight")
	c.Server.DrainSeconds = rapid.IntRange(0, 86_400).Draw(t, "drainSeconds")
	c.LLMProxy.Retry.MaxElapsedMs = rapid.IntRange(1, 86_400_000).Draw(t, "maxElapsedMs")
	c.LLMProxy.ExposeRoutingHeaders = rapid.SampledFrom([]string{"all", "id-only"}).Draw(t, "exposeRoutingHeaders")
	c.Telemetry.LogLevel = rapid.SampledFrom([]string{"debug", "info", "warn", "error"}).Draw(t, "logLevel")
	c.Telemetry.LogFormat = rapid.SampledFrom([]string{"json", "text"}).Draw(t, "logFormat")
	c.Telemetry.Metrics = rapid.Bool().Draw(t, "metrics")
	return c
}

func marshal(t *rapid.T, c *config.Config) string {
	b, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// load loads text in a property.
func load(t *rapid.T, src string, sets ...string) *config.Loaded {
	l, err := config.Load(fakeOS{files: map[string]string{"interlock.yaml": src}}.options("interlock.yaml", sets...))
	if err != nil {
		t.Fatalf("%v in\n%s", err, src)
	}
	return l
}

func TestLoad_reads_what_was_marshalled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config.Default()
		if diff := sameConfig(c, load(t, marshal(t, c)).Config); diff != "" {
			t.Fatalf("defaults: %s", diff)
		}
		c = anyConfig(t)
		if diff := sameConfig(c, load(t, marshal(t, c)).Config); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestLoad_an_override_is_the_same_as_the_file(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, other := anyConfig(t), anyConfig(t)
		got := load(t, marshal(t, other),
			"server.listen="+c.Server.Listen, "server.publicUrl="+c.Server.PublicURL,
			fmt.Sprintf("server.maxBodyBytes=%d", c.Server.MaxBodyBytes), fmt.Sprintf("server.maxInFlight=%d", c.Server.MaxInFlight),
			fmt.Sprintf("server.drainSeconds=%d", c.Server.DrainSeconds), fmt.Sprintf("llmProxy.retry={maxElapsedMs: %d}", c.LLMProxy.Retry.MaxElapsedMs),
			"llmProxy.exposeRoutingHeaders="+c.LLMProxy.ExposeRoutingHeaders, "telemetry.logLevel="+c.Telemetry.LogLevel,
			"telemetry.logFormat="+c.Telemetry.LogFormat, fmt.Sprintf("telemetry.metrics=%v", c.Telemetry.Metrics),
		)
		if diff := sameConfig(c, got.Config); diff != "" {
			t.Fatal(diff)
		}
	})
}
