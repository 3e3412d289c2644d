# Everyday targets. `make test` is what the README names; CI runs it and the checks of `lint`.
GO ?= go

.PHONY: help build test race lint fuzz bench bench-checkpoint compare compare-random gen sim mutants soak install clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

TRIM ?= -trimpath
build: ## build bin/ebb, stripped
	$(GO) build $(TRIM) -ldflags="-s -w" -o bin/ebb ./cmd/ebb

install: ## install ebb into Go's bin folder
	$(GO) install ./cmd/ebb

test: ## all tests of every day
	$(GO) test ./...

# Left out: scripts that run in processes of their own, and packages where neither code nor tests start a goroutine. What
# they make runs under the detector in the jobs of planner, repl and exec/sim.
ALONE = examples|lang/(syntax|check|types)|stdlib/(op|agg|fn|grid)|exec/(eval|vec)|cmd/ebb/testrun
race: ## the same under the race detector; `make lint` has vetted them
	$(GO) test -vet=off -race -short $$($(GO) list ./... | grep -vE '/($(ALONE))$$')

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; done

bench: ## benchmarks with their hand-written baselines, ratios inside one run
	$(GO) test -run '^$$' -bench . -benchmem ./exec/... ./stdlib/...
	$(GO) test -run '^$$' -bench . -benchtime 3x ./cmd/ebb
	$(GO) test ./cmd/ebb -run 'TestLimits' -count=1 -v -speed
	$(GO) test ./lang/lint -run 'TestSpeed' -count=1 -v -speed

bench-checkpoint: ## what checkpoints cost: time to durable, speed lost, pauses, recovery; tables for docs/checkpoints-speed.md
	$(GO) test ./cmd/ebb -run 'TestCheckpointTime|TestCheckpointCost|TestCheckpointPause|TestRecoveryTime' -count=1 -speed -timeout 60m

compare: ## the Nexmark queries of examples/ against DuckDB (installed from PyPI into .bench/)
	./docs/compare.sh

compare-random: ## random pipelines against DuckDB; FLAGS="--seed 1 --cases 5000 --keep-going"
	./docs/compare.sh random $(FLAGS)

gen: ## regenerate docs/reference.md, docs/repl.md, docs/lint.md, the grammar of editors and the goldens that are made from the code
	$(GO) run ./cmd/ebb doc --markdown > docs/reference.md
	$(GO) run ./cmd/ebb doc --session > docs/repl.md
	$(GO) run ./cmd/ebb doc --lint > docs/lint.md
	$(GO) run ./cmd/ebb doc --textmate > docs/editors/vscode/ebb.tmLanguage.json

SEEDS ?= 2000
sim: ## 2,000 jobs live through crashes, on one goroutine each; the schedules of plans of every shape
	$(GO) test -vet=off ./exec/sim -count=1 -v -run 'TestLives$$' -seeds $(SEEDS) -timeout 30m
	$(GO) test -vet=off ./exec/sim -count=1 -v -run 'TestEveryOperation|TestEveryCopy' -every -timeout 30m
	$(GO) test -vet=off ./exec/sim -count=1 -run 'TestSchedule|TestFiles|TestWideOutputs'

FLAGS ?=
mutants: ## switch faults of the engine on, one after another: the lives of jobs must notice each; FLAGS=-update keeps the stories that did
	$(GO) test -vet=off ./exec/sim -tags mutants -count=1 -run 'TestMutants$$' -timeout 20m $(FLAGS)

soak: ## the same for ever, from a seed of today
	$(GO) test -vet=off ./exec/sim -count=1 -v -run 'TestLives$$' -soak -timeout 0

clean:
	rm -rf bin .bench
