# What is done with planbridge. `make help` lists it.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Of one package's tests.
TIMEOUT ?= 15m
# What runs them, but for those that measure: .ci/in-memory. go test remembers no result then.
EXEC    ?=
# What each fuzz target and each benchmark gets.
FUZZTIME  ?= 20s
BENCHTIME ?= 1s
# The revision that make upgrade begins with.
OLD ?=
# What deps installs beside.
ALSO ?=
# The long random run: how long, and from how many new seeds (or from SEED).
SECONDS ?= 60
SEEDS   ?= 4
SEED    ?=

# All is built as a release is, so that each package is compiled once, and once more for the
# race detector. That needs cgo, and would wait a second where a process ends. Without these
# flags the compiler takes up to half as long again: it collects garbage though memory is free,
# and writes debugging data, which a release leaves out.
export CGO_ENABLED := 0
export GOFLAGS += -trimpath -gcflags=all=-dwarf=false "-toolexec=env GOGC=400"
RACE := CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test -race

SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)

# Of make sim: 1 plays each seed twice.
DIGESTS ?=
# Of make sim and make shrink: 2 draws worlds with two planning projects.
PROJECTS ?=

# Of make bench: which rows (all), per cent of the usual sizes, a file for the raw figures.
# make sim has sizes of its own: small and large.
ROWS ?=
SIZE ?= 100
RAW  ?=

.DEFAULT_GOAL := help
.PHONY: help build deps test vet fmt fmt-check lint dist vuln pin-images fuzz bench bench-all organisation texts scenarios faults chaos sim shrink explore upgrade mutants left-out rules deploy-check helm-check release-check release-snapshot page-shots demo clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## planbridge and its demo, into bin/
	$(GO) build -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/...

deps: ## what tests need beside Go: redis-server, prometheus for its promtool, and cmark-gfm
	@missing=; \
	command -v redis-server >/dev/null || missing="$$missing redis-server"; \
	command -v promtool >/dev/null || missing="$$missing prometheus"; \
	command -v cmark-gfm >/dev/null || missing="$$missing cmark-gfm"; \
	for tool in $(ALSO); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	[ -z "$$missing" ] && exit 0; \
	echo "installing$$missing"; export DEBIAN_FRONTEND=noninteractive; \
	install() { $(SUDO) apt-get -qq update && $(SUDO) apt-get -qq install --yes --no-install-recommends $$missing; }; \
	install || { sleep 5; install; }

# What holds the machine's time or memory to a bound is called TestMeasured…. So are crowds in virtual
# time, where it hangs on who comes first how long the last one takes. They have the machine to
# themselves, and no race detector, which takes several times of both.
MEASURED = $(addprefix ./,$(sort $(dir $(shell git grep -l '^func TestMeasured' -- '*_test.go'))))

# Where tests give the race detector a share of their random texts and worlds, or leave it out: these
# run again without it, but for TestChaos, which does neither and waits for real time.
WHOLE = $(addprefix ./,$(sort $(dir $(shell git grep -lE 'mappingtest\.(Share|Worlds|Draw|SkipUnderRace)' -- '*_test.go'))))

RUNNER = $(if $(EXEC),-exec '"$(abspath $(EXEC))"')

# Tests that hold no memory to a bound collect garbage more seldom, while their heap is small.
SELDOM := GOGC=400 GOMEMLIMIT=2GiB

# golangci-lint vets them too. Packages that wait leave a core to a third one.
test: deps ## all tests: with the race detector, then those that measure
	$(SELDOM) $(RACE) -vet=off -p 3 $(RUNNER) -timeout $(TIMEOUT) -skip '^TestMeasured' ./...
	$(SELDOM) $(GO) test -vet=off -p 3 $(RUNNER) -timeout $(TIMEOUT) -skip '^(TestMeasured|TestChaos$$)' $(WHOLE)
	$(GO) test -vet=off -p 1 -timeout $(TIMEOUT) -run '^TestMeasured' $(MEASURED)

vet: ## go vet
	$(GO) vet ./...

fmt: ## format all of it
	gofmt -w $$(git ls-files '*.go')

fmt-check: ## fail where gofmt would change something
	@out=$$(gofmt -l $$(git ls-files '*.go')) && [ -z "$$out" ] || { echo "not formatted:"; echo "$$out"; exit 1; }

# The linter is built from pinned sources (.ci/tools.mod), once.
bin/golangci-lint: .ci/tools.mod .ci/tools.sum
	$(GO) build -modfile=.ci/tools.mod -o bin/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch bin/golangci-lint

# So are the tools that say what we are built of, each where it is used.
bin/cyclonedx-gomod: TOOL := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
bin/govulncheck: TOOL := golang.org/x/vuln/cmd/govulncheck
bin/crane: TOOL := github.com/google/go-containerregistry/cmd/crane
bin/cyclonedx-gomod bin/govulncheck bin/crane: .ci/supply.mod .ci/supply.sum
	$(GO) build -modfile=.ci/supply.mod -o $@ $(TOOL)
	@touch $@

lint: bin/golangci-lint ## golangci-lint (.golangci.yml), which runs go vet and staticcheck as well
	GOGC=400 GOMEMLIMIT=3GiB bin/golangci-lint run ./...

dist: bin/cyclonedx-gomod build ## beside the binary, the licences of all that it is built of, and its SBOM (CycloneDX)
	.ci/notices bin/planbridge >bin/THIRD_PARTY_NOTICES
	bin/cyclonedx-gomod bin -json -std -noserial -version $(VERSION) -output bin/planbridge.cdx.json bin/planbridge

# Where its database cannot be reached, nothing is known of new faults: that is said, and no failure.
vuln: bin/govulncheck ## known faults of what we are built of
	@out=$$(bin/govulncheck ./... 2>&1) && { echo "$$out"; exit 0; }; \
	echo "$$out"; case "$$out" in *"fetching vulnerabilities"*) echo "the database of vulnerabilities is out of reach: nothing was checked";; *) exit 1;; esac

pin-images: bin/crane ## the digest of each image in deploy/ and the Dockerfile, where its registry answers
	.ci/images pin

fuzz: ## each fuzz target for FUZZTIME
	@set -e; for file in $$(git ls-files '*_test.go' | xargs grep -l '^func Fuzz'); do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
	    echo "== $$target in $$(dirname "$$file")"; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "./$$(dirname "$$file")"; \
	  done; \
	done

bench: deps ## the table of docs/performance.md: make bench ROWS=intake,poll SIZE=20 RAW=figures.jsonl
	PLANBRIDGE_BENCH_ROWS="$(ROWS)" PLANBRIDGE_BENCH_SIZE="$(SIZE)" PLANBRIDGE_BENCH_RAW="$(abspath $(RAW))" \
	  $(GO) test -tags bench -count 1 -v -timeout 1h -run '^TestNumbers$$' ./bridge/benchtest

organisation: deps ## a large organisation's day in short: make organisation REPOS=500 PROJECTS=20 ISSUES=2000 EVENTS=2000 RATE=50
	PLANBRIDGE_ORG_REPOS=$(REPOS) PLANBRIDGE_ORG_PROJECTS=$(PROJECTS) PLANBRIDGE_ORG_ISSUES=$(ISSUES) PLANBRIDGE_ORG_EVENTS=$(EVENTS) PLANBRIDGE_ORG_RATE=$(RATE) \
	  $(GO) test -tags bench -count 1 -v -timeout 1h -run '^TestOrganisation$$' ./bridge/benchtest

bench-all: deps ## all benchmarks of single parts
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -benchmem ./...

texts: deps ## all random texts of mapping with the race detector, of which make test gives it a share
	$(RACE) -count 1 -timeout 20m ./mapping -defuse.texts 100000

scenarios: deps ## all scenarios in real time over loopback, on Redis and on a file; make test plays those of a file in virtual time
	PLANBRIDGE_SCENARIOS=all $(RACE) -count 1 -timeout 20m -run '^(TestScenarios|TestStories)$$' ./bridge/scenariotest ./bridge/randomtest

faults: deps ## also what takes too long for make test: a Sentinel fails over, a Cluster loses a node, processes are paused, late writes in numbers
	$(RACE) -count 1 -tags faults -timeout 20m ./bridge/bridgetest
	$(GO) test -count 1 -tags faults -timeout 20m -run '^TestPeopleRaceTheBridge' ./bridge/reconcile -rapid.checks 5000

chaos: deps ## the long random run: make chaos SECONDS=30 SEEDS=50, again with SEED="17 4711"
	PLANBRIDGE_CHAOS_SECONDS=$(SECONDS) PLANBRIDGE_CHAOS_SEEDS="$(or $(SEED),$(SEEDS)x)" \
	  $(RACE) -count 1 -v -timeout 0 -run '^TestChaos$$' ./bridge/randomtest

sim: deps ## the random run in virtual time: make sim SIZE=small SEEDS=1000 (or large, or SECONDS=30), again with SEED="17 4711"; DIGESTS=1 plays each twice; PROJECTS=2 draws second projects
	$(if $(SEED),,PLANBRIDGE_DROPS=all $(SELDOM) $(GO) test -count 1 -run '^TestWhatIsKnownIsACache$$' ./bridge/reconcile)
	PLANBRIDGE_SIM_SIZE="$(filter small large,$(SIZE))" PLANBRIDGE_SIM_SECONDS=$(SECONDS) PLANBRIDGE_SIM_SEEDS="$(or $(SEED),$(SEEDS)x)" PLANBRIDGE_SIM_DIGESTS="$(DIGESTS)" PLANBRIDGE_SIM_PROJECTS="$(PROJECTS)" \
	  $(SELDOM) $(GO) test -count 1 -v -timeout 0 -run '^TestSim$$' ./bridge/randomtest

shrink: deps ## the shortest story of a seed with which make sim fails: make shrink SEED=4711 SECONDS=30, and as a scenario: SCENARIO=name
	@test -n "$(SEED)" || { echo "make shrink SEED=<seed>"; exit 1; }
	PLANBRIDGE_SIM_SIZE="$(filter small large,$(SIZE))" PLANBRIDGE_SIM_SECONDS=$(SECONDS) PLANBRIDGE_SIM_PROJECTS="$(PROJECTS)" PLANBRIDGE_SHRINK_SEED="$(SEED)" PLANBRIDGE_SHRINK_FILE="$(STORY)" PLANBRIDGE_SHRINK_SCENARIO="$(SCENARIO)" \
	  $(SELDOM) $(GO) test -count 1 -v -timeout 0 -run '^TestShrink$$' ./bridge/randomtest

explore: ## all ways through a small world, as far as SECONDS go: make explore SECONDS=600
	PLANBRIDGE_EXPLORE_SECONDS=$(SECONDS) $(SELDOM) $(GO) test -count 1 -v -timeout 0 -run '^TestExplore$$' ./bridge/randomtest

upgrade: deps ## two replicas of an earlier revision give way to two of this one, while people edit: make upgrade OLD=v1.2.3
	@test -n "$(OLD)" || { echo "make upgrade OLD=<revision>"; exit 1; }
	@set -e; old=$$(mktemp -d); trap 'rm -rf "$$old"' EXIT; \
	git archive "$(OLD)" >"$$old/source.tar"; tar -x -f "$$old/source.tar" -C "$$old"; \
	(cd "$$old" && $(GO) build -o planbridge ./cmd/planbridge); \
	PLANBRIDGE_OLD="$$old/planbridge" $(RACE) -count 1 -v -timeout 5m -run '^TestRollingUpgrade$$' ./cmd/planbridge

mutants: deps left-out ## deliberate mistakes in the bridge, each of which the random run has to find: make mutants MUTANTS='no-*'
	PLANBRIDGE_MUTANTS="$(MUTANTS)" $(GO) test -tags mutants -count 1 -v -timeout 0 -run '^TestMutants$$' ./bridge/randomtest

left-out: ## each transition of a pair's state left out in turn, which a test has to miss: make left-out LEFT_OUT='dormant *'
	PLANBRIDGE_LEFT_OUT="$(or $(LEFT_OUT),*)" $(GO) test -count 1 -v -timeout 0 -run '^TestLeftOut$$' ./bridge/randomtest

rules: ## the PrometheusRule of deploy/kubernetes from deploy/prometheus/alerts.yml
	@{ cat deploy/kubernetes/monitoring/prometheusrule.head.yaml; sed 's/^\(.\)/  \1/' deploy/prometheus/alerts.yml; } >deploy/kubernetes/monitoring/prometheusrule.yaml

# quick: what needs a tool that is not installed is said, and no failure.
deploy-check: deps ## hold deploy/ to the tools that will read it
	promtool check config deploy/prometheus/prometheus.yml
	promtool check rules deploy/prometheus/alerts.yml
	promtool test rules deploy/prometheus/alerts_test.yml
	.ci/images check
	.ci/unit deploy/systemd/planbridge.service

# The tools that read Kubernetes' files are built from pinned sources, once. One of them knows
# only older libraries of Kubernetes.
bin/helm bin/kustomize: .ci/deploy.mod .ci/deploy.sum
	$(GO) build -modfile=.ci/deploy.mod -o bin/ helm.sh/helm/v3/cmd/helm sigs.k8s.io/kustomize/kustomize/v5
	@touch bin/helm bin/kustomize
bin/kubectl-validate: .ci/validate.mod .ci/validate.sum
	$(GO) build -modfile=.ci/validate.mod -o bin/ sigs.k8s.io/kubectl-validate
	@touch bin/kubectl-validate

KUBERNETES ?= 1.30
helm-check: bin/helm bin/kustomize bin/kubectl-validate ## the chart and the Kubernetes manifests: lint, render, and hold to Kubernetes' own kinds
	.ci/manifests $(KUBERNETES)

bin/goreleaser: .ci/release.mod .ci/release.sum
	$(GO) build -modfile=.ci/release.mod -o bin/ github.com/goreleaser/goreleaser/v2
	@touch bin/goreleaser

release-check: bin/goreleaser ## whether .goreleaser.yaml is right
	bin/goreleaser check

# Without a Docker engine there is no image: that is said, and no failure.
release-snapshot: bin/goreleaser bin/cyclonedx-gomod ## what a release would be made of, into dist/: binaries, SBOMs, checksums, and the image
	@skip=; docker version >/dev/null 2>&1 || { skip=--skip=docker; echo "no Docker engine answers: the image is left out"; }; \
	PATH="$(CURDIR)/bin:$$PATH" bin/goreleaser release --snapshot --clean $$skip

page-shots: ALSO := chromium
page-shots: deps ## the status page in Chromium, measured, and its pictures in bin/shots
	mkdir -p bin/shots && PLANBRIDGE_SHOTS="$(abspath bin/shots)" $(GO) test -tags browser -count 1 -timeout 30m -run 'Browser|RefreshesItself' ./bridge/status

demo: ## both services simulated, with the bridge between them, in one process
	$(GO) run ./cmd/planbridge-demo

clean: ## remove what was built
	rm -rf bin
