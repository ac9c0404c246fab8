# The two commands of the README, `make demo` and `make test`, and their neighbours. Each does all its own set-up;
# the work itself is in xtask/ (cargo xtask help).

SHELL := /bin/sh
.DEFAULT_GOAL := help
PITHOS_CACHE ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/pithos
export PITHOS_CACHE

.PHONY: help demo test npm bless bench bench-peers conformance fuzz docs install dist wheel need-cargo need-cc

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile

demo: need-cargo need-cc ## build the release binaries and run the main job
	@cargo xtask demo

test: need-cargo need-cc ## format, lints, all tests, conformance suites, documents
	@cargo xtask test

conformance: need-cargo need-cc ## only the conformance suites that can be found
	@cargo xtask conformance

npm: need-cargo need-cc ## programs over npm packages, compared with node (needs node, npm and the network)
	@cargo xtask npm

bless: need-cargo need-cc ## rewrite the conformance expectation lists and the generated documents
	@cargo xtask conformance --bless
	@cargo xtask tidy --write

bench: need-cargo need-cc ## ratios to every peer that is installed (BENCH="record cynic" and the like: other arguments)
	@cargo xtask bench $(BENCH)

bench-peers: ## install the peers that the package registries have
	@bench/install-peers.sh

fuzz: need-cargo need-cc ## a bounded run of every fuzzer (FUZZ_SECONDS each, default 60)
	@cargo run --release --quiet --locked -p pithos-fuzz -- all --seconds $(or $(FUZZ_SECONDS),60)

docs: need-cargo need-cc ## the documents as a site below target/site, with search and the API of the crates
	@cargo xtask docs

install: need-cargo need-cc ## release binaries into ~/.local/bin
	@cargo xtask install

dist: need-cargo need-cc ## an archive of stripped binaries, debug files and documents below dist/
	@cargo xtask dist

wheel: need-cargo need-cc ## the Python wheel and its source distribution below dist/
	@cargo xtask wheel

need-cargo:
	@command -v cargo >/dev/null 2>&1 || { echo "make: cargo was not found: install Rust 1.95 or newer from https://rustup.rs and open a new shell" >&2; exit 1; }
	@cargo --version | awk '{split($$2,v,"."); if (v[1]<1||(v[1]==1&&v[2]<95)) {print "make: Rust " $$2 " is too old: run rustup update (1.95 or newer is needed)"; exit 1}}' >&2

need-cc:
	@command -v cc >/dev/null 2>&1 || { echo "make: no C compiler (cc) was found: install gcc or clang (Debian: apt-get install gcc)" >&2; exit 1; }
