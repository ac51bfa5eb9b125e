# Martlet. Plain `make` lists the targets.

SWIFT ?= swift
SPEED ?= 10
BOARD ?= JFK
PORT ?= 8080
SEEDS ?= 20
SECONDS ?= 30
# Without debug information, and with one compilation for each module, the tests build from clean with about a third less
# processor time; `make test TEST_FLAGS=` keeps the one and builds incrementally.
TEST_FLAGS ?= -debug-info-format none -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 1

.DEFAULT_GOAL := help
.PHONY: help setup run build lab deb test test-foundation test-console test-packaging lint format docs bench sim fuzz conformance check

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{ printf "  make %-16s %s\n", $$1, $$2 }'

setup: ## install missing system packages (Debian, Ubuntu)
	@Scripts/install-packages

run: setup ## serve the departure board on its embedded store and watch real flights arrive
	@$(SWIFT) build -c release --product DepartureBoard
	@Examples/DepartureBoard/run --port $(PORT) --speed $(SPEED) --airport $(BOARD)

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
	@Interoperation/prepare || [ $$? -eq 77 ]
	@SWIFT="$(SWIFT)" TEST_FLAGS="$(TEST_FLAGS)" Scripts/run-tests

test-console: ## the console in headless Chromium; says so where it is not installed
	@$(SWIFT) build --product martlet
	@Tests/Console/run .build/debug/martlet || [ $$? -eq 77 ]

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

sim: setup ## client and server under one seeded executor, SEEDS seeds twice
	@MARTLET_SIM_SEEDS=$(SEEDS) $(SWIFT) test --disable-xctest --filter Simulation

fuzz: setup ## coverage-guided fuzzing of every parser, SECONDS each
	@Fuzz/run all $(SECONDS) || { status=$$?; [ $$status -eq 77 ] || exit $$status; }

conformance: build lab ## suites that need more than a fresh machine has; says what it skipped
	@Conformance/run

check: lint test ## what a pull request needs
