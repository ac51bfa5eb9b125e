# Martlet. Plain `make` lists the targets.

SWIFT ?= swift
SPEED ?= 10
BOARD ?= JFK
PORT ?= 8080
SEEDS ?= 20
SECONDS ?= 30
SANITIZER ?= thread
SUITES ?=
# Without debug information, and with one compilation for each module, the tests build from clean with about a third less
# processor time; `make test TEST_FLAGS=` keeps the one and builds incrementally. The last option stops the compiler from
# checking the types of a module twice, the first time so that modules above it can begin, for which the package manager
# waits for all of it anyway. Scripts/build-tests leaves out the index of editors, a third of what is left.
TEST_FLAGS ?= -debug-info-format none -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 1 \
  -Xswiftc -no-emit-module-separately-wmo

.DEFAULT_GOAL := help
.PHONY: help setup run run-checklist run-presence build lab deb test test-foundation test-console test-readme test-packaging lint format docs bench sim sim-mutants fuzz sanitize conformance check

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{ printf "  make %-16s %s\n", $$1, $$2 }'

setup: ## install missing system packages (Debian, Ubuntu)
	@Scripts/install-packages

run: setup ## serve the departure board on its embedded store and watch real flights arrive
	@$(SWIFT) build -c release --product DepartureBoard
	@Examples/DepartureBoard/run --port $(PORT) --speed $(SPEED) --airport $(BOARD)

run-checklist: setup ## two terminals share a list: one works offline and comes back, conflicts and refusals are shown
	@$(SWIFT) run Checklist Examples/Checklist/schema.graphql

run-presence: setup ## two watchers of gates come and go, and a board shows it
	@$(SWIFT) build --product martlet
	@$(SWIFT) build --product Presence
	@Examples/Presence/run

deb: setup ## build a Debian package: .build/martlet_VERSION_ARCHITECTURE.deb
	@SWIFT=$(SWIFT) Packaging/build-deb

test-packaging: ## proxies, systemd unit, Debian package, alerts; says what is not installed
	@$(SWIFT) build --product martlet
	@Tests/Packaging/run .build/debug/martlet || [ $$? -eq 77 ]

build: setup ## build the command: .build/release/martlet
	@$(SWIFT) build -c release --product martlet

lab: setup ## build the tool that benchmarks and conformance suites use: .build/release/martlet-lab
	@$(SWIFT) build -c release --product martlet-lab

test: setup ## run every test a fresh machine can run
	@Scripts/install-packages python3
	@SWIFT="$(SWIFT)" TEST_FLAGS="$(TEST_FLAGS)" Scripts/run-tests

test-console: ## the console in headless Chromium; says so where it is not installed
	@$(SWIFT) build --product martlet
	@Tests/Console/run .build/debug/martlet || [ $$? -eq 77 ]

test-readme: ## paste the whole README into a fresh shell, in a fresh clone; says how long each command took
	@Tests/Readme/run

test-foundation: setup ## build the client over Foundation's network, as Apple platforms do, and test it
	@SWIFT="$(SWIFT)" TEST_FLAGS="$(TEST_FLAGS)" Scripts/test-foundation

lint: setup ## formatting (strict) and the house rules
	@$(SWIFT) format lint --strict --parallel --configuration .swift-format --recursive Package.swift Sources Tests Examples
	@$(SWIFT) test --disable-xctest --filter HouseTests

format: ## format the sources in place
	@$(SWIFT) format --in-place --parallel --configuration .swift-format --recursive Package.swift Sources Tests Examples

docs: setup ## build the DocC documentation of the products into .build/docs
	@Scripts/build-docs

bench: build lab ## print every figure beside its peer: Benchmarks/README.md
	@Benchmarks/run

sim: setup ## SEEDS seeds of the DataStore's simulation, release build, and as many of client and server
	@SWIFT="$(SWIFT)" Simulation/run $(SEEDS)
	@MARTLET_SIM_SEEDS=$(SEEDS) $(SWIFT) test --disable-xctest --filter ServerSimulationTests

sim-mutants: setup ## broken variants of the DataStore: which are found within 500 seeds, and by which check
	@SWIFT="$(SWIFT)" Simulation/run-mutants

fuzz: setup ## coverage-guided fuzzing of every parser, SECONDS each
	@Fuzz/run all $(SECONDS) || { status=$$?; [ $$status -eq 77 ] || exit $$status; }

sanitize: setup ## tests under SANITIZER=thread or address; SUITES=Store,Server for some of them
	@SWIFT="$(SWIFT)" TEST_FLAGS="$(TEST_FLAGS)" Scripts/sanitize $(SANITIZER) "$(SUITES)" || { status=$$?; [ $$status -eq 77 ] || exit $$status; }

conformance: build lab ## suites that need more than a fresh machine has; says what it skipped
	@Conformance/run

check: lint test ## what a pull request needs
