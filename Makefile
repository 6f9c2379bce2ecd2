# The verbs that people and CI use. Everything fetched or built lies in the cache
# folder (OSTRACA_CACHE, default ~/.cache/ostraca), never in the checkout.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

OSTRACA_CACHE ?= $(HOME)/.cache/ostraca
CARGO_TARGET_DIR ?= $(OSTRACA_CACHE)/target
export OSTRACA_CACHE CARGO_TARGET_DIR

# What `make run` serves, and how it is compiled.
STORE ?= $(OSTRACA_CACHE)/data
LISTEN ?= 127.0.0.1:7700
PROFILE ?= quick
PURE := -p ostraca-object -p ostraca-search -p ostraca-memory -p ostraca-service

.PHONY: help
help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Install what the tests need into the cache folder
	scripts/setup

.PHONY: run
run: ## Serve memory from a local folder at http://127.0.0.1:7700/mcp
	scripts/setup rust
	cargo run --profile $(PROFILE) -p ostraca -- serve --store $(STORE) --listen $(LISTEN)

.PHONY: test
test: setup guard build-edges ## Run every test, on real storage and real runtimes
	scripts/check-wrangler
	cargo test --workspace --exclude ostraca-worker

.PHONY: guard
guard: ## The checks that compile nothing: format, arrows, sizes
	cargo fmt --all --check -- -l
	scripts/check-arrows
	scripts/check-sizes

.PHONY: check
check: guard ## Lints, documentation, arrows, sizes, licences
	scripts/setup rust deny
	cargo metadata --locked --format-version 1 >/dev/null
	cargo clippy --workspace --exclude ostraca-worker --all-targets -- -D warnings
	cargo clippy $(PURE) -p ostraca-worker --target wasm32-unknown-unknown -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items --workspace --exclude ostraca-worker
	scripts/check-deny

.PHONY: build-edges
build-edges: ## Build what the tests run as processes: binary, Lambda, Worker
	scripts/setup rust
	# One by one, as the tests ask for them: together they would be built with other features.
	cargo build -p ostraca
	cargo build -p ostraca-lambda
	scripts/build-worker

.PHONY: sim
sim: ## Simulation over many seeds: SIM_SEEDS=count, SIM_SEED=one
	scripts/setup rust
	SIM_SEEDS=$${SIM_SEEDS:-500} cargo test -p ostraca-tests --test 'simulation*' -- --nocapture

.PHONY: edge
edge: setup build-edges ## The Worker on workerd, the function in the Lambda runtime
	cargo test -p ostraca-tests --test edge --test clients

.PHONY: worker
worker: ## Run the Worker on workerd with a local R2 bucket, no key
	scripts/setup
	scripts/build-worker
	tests/edge/workerd --persist $(OSTRACA_CACHE)/r2 --var OSTRACA_AUTH=none

.PHONY: lambda
lambda: ## Run the Lambda function in an emulator on an S3 server in memory, no key
	scripts/setup rust python
	scripts/run-lambda

.PHONY: bench
bench: ## Measure: OSTRACA_LOCOMO=file and OSTRACA_SCIFACT=folder add retrieval quality
	scripts/setup rust python
	cargo build --release -p ostraca
	OSTRACA_BIN=$(CARGO_TARGET_DIR)/release/ostraca cargo bench -p ostraca-tests --bench costs --bench retrieval
	$(MAKE) --no-print-directory bench-search

.PHONY: bench-search
bench-search: ## Search against LanceDB: COUNT=texts, CONTENDERS="--contender …"
	scripts/setup rust python
	tests/bench/search/bench --count $${COUNT:-100000} $(CONTENDERS)

.PHONY: docs
docs: ## API documentation of every crate
	cargo doc --no-deps --workspace --exclude ostraca-worker
