# Interlock's commands. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

GO ?= go
LINTER := bin/golangci-lint

# Packages with benchmarks or golden files, and modules of their own.
packages-with = $(shell grep -rl --include='*_test.go' $(1) cmd internal bench test | xargs -r -n1 dirname | sort -u | sed 's|^|./|')
bench-packages = $(call packages-with,'^func Benchmark')
golden-packages = $(call packages-with,'flag.Bool."update"')
ui-sources = ui/src ui/public ui/scripts ui/index.html ui/package-lock.json ui/vite.config.ts
nested-modules = $(shell find . -mindepth 2 -name go.mod -not -path './tools/*' -not -path '*/node_modules/*' -printf '%h\n' | sort)

##@ Use

.PHONY: help
help: ## List the commands
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: build ## Run the gateway with two fake providers and print requests to try (LISTEN=host:port)
	@scripts/run.sh

.PHONY: dev
dev: build ## The same with debug logs; rebuilds and restarts when a source file changes
	@scripts/run.sh --watch

.PHONY: build
build: ui-if-changed ## Build bin/interlock and bin/fakellm as static programs, with the console if npm is there
	@CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/...

.PHONY: ui
ui: ## Build the console into ui/dist
	@cd ui && npm ci --no-audit --no-fund --silent && npm run --silent build

# A build without npm, or without a network to install from, still works: the
# program then says that it has no console.
.PHONY: ui-if-changed
ui-if-changed:
	@if [ -f ui/dist/index.html ] && [ -z "$$(find $(ui-sources) -newer ui/dist/index.html -print -quit)" ]; then exit 0; fi; \
	if ! command -v npm >/dev/null; then echo 'the console is not built or not current: install Node.js 20 or newer, then make ui'; exit 0; fi; \
	echo 'building the console (make ui)'; $(MAKE) ui || echo 'the console was not built: see above, then make ui'

##@ Test

.PHONY: test
test: test-deps fmt-check vet spec-coverage lint bench-budget test-race ui-test ui-e2e test-clients ## Everything that CI checks

.PHONY: test-fast
test-fast: ## Tests without the race detector and without the slow ones (under a minute)
	@$(GO) test -short ./...

.PHONY: test-race
test-race: test-deps
	@$(GO) test -race -timeout 30m ./...

.PHONY: test-clients
test-clients: test-deps ## Run pinned agents and SDKs against the gateway; the first run installs them (1 GB)
	@GO='$(GO)' scripts/test-clients.sh

.PHONY: ui-test
ui-test: ## Type-check and test the console
	@cd ui && npm ci --no-audit --no-fund --silent && npm run --silent typecheck && npm test --silent

.PHONY: ui-e2e
ui-e2e: build ## Test the console in a real browser (CHROMIUM=path, default /usr/bin/chromium)
	@node --test test/e2e/*.test.mjs

.PHONY: test-deps
test-deps:
	@scripts/test-deps.sh

.PHONY: spec-coverage
spec-coverage: ## List requirements of finished steps that no test names (STEP=n: as if steps 1 to n were finished)
	@$(GO) run ./test/speccoverage $(if $(STEP),-step $(STEP))

.PHONY: fuzz
fuzz: ## Fuzz every target for a short time (FUZZTIME=10s)
	@scripts/fuzz.sh

.PHONY: bench
bench: ## Measure Interlock beside the floor proxy and nginx, 20 minutes (QUICK=1: 5, PROFILE=1: keep CPU profiles)
	@QUICK='$(QUICK)' PROFILE='$(PROFILE)' bench/run.sh

.PHONY: bench-go
bench-go: ## Run the Go benchmarks (BENCH=regexp, COUNT=5)
	@$(GO) test -run '^$$' -bench '$(or $(BENCH),.)' -benchmem -count $(or $(COUNT),5) $(bench-packages) | $(GO) run ./bench/cmd/gostat

.PHONY: bench-budget
bench-budget: ## Hold the hot path to the allocations of bench/budget.txt (part of test)
	@$(GO) test ./bench/hotpath

.PHONY: check
check: test fuzz generate ## Before a release: all of test, fuzzing, and no generated file out of date
	@git diff --exit-code

##@ Change

.PHONY: fmt
fmt: $(LINTER) ## Format the Go code
	@$(LINTER) fmt

.PHONY: fmt-check
fmt-check:
	@files=$$(gofmt -l cmd internal test bench); \
	if [ -n "$$files" ]; then printf 'not formatted (run make fmt):\n%s\n' "$$files"; exit 1; fi

.PHONY: vet
vet:
	@$(GO) vet ./...
	@for m in $(nested-modules); do (cd $$m && $(GO) build -o /dev/null ./... && $(GO) vet ./...); done

.PHONY: lint
lint: $(LINTER) ## Check style, design rules and import rings
	@$(LINTER) run

.PHONY: generate
generate: ## Rewrite generated files
	@$(GO) generate ./...

.PHONY: golden
golden: ## Rewrite golden files; review the difference as you review code
	@$(GO) test $(golden-packages) -update

.PHONY: clean
clean: ## Remove what was built and the files of `make run`
	@rm -rf bin .run

# The linter has a module of its own, so that its 400 dependencies are not
# ours. It is built once for each version.
$(LINTER): tools/go.mod tools/go.sum
	@echo "building $@ (once; some minutes on a cold cache)"
	@$(GO) build -C tools -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
