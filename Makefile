# Kogge's commands for those who work on it. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BIN := $(CURDIR)/bin
NAME ?= kogge
NODES ?= 2
WAIT ?= 60s
PACKAGES ?= ./...

# The same settings for everything, so that the tests use what the build compiled.
export GOTOOLCHAIN ?= local
export GOFLAGS ?= -buildvcs=false
export CGO_ENABLED ?= 0

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: up
up: bin build images ## Set up what is missing, build, start a cluster of two nodes, write the kubeconfig
	@$(BIN)/kogge create cluster --name $(NAME) --nodes $(NODES) --wait $(WAIT) --reuse
	@command -v kubectl >/dev/null || echo 'kubectl is in bin/: export PATH=$(BIN):$$PATH'

.PHONY: down
down: ## Delete the cluster: the host is as before
	@if [ -x $(BIN)/kogge ]; then $(BIN)/kogge delete cluster --name $(NAME); fi

# Always asked: go itself knows best whether anything changed.
.PHONY: build
build: ## Build bin/kogge
	@started=$$SECONDS; go build -o $(BIN)/kogge ./cmd/kogge && echo " ✓ kogge ($$((SECONDS - started))s)"

.PHONY: bin
bin: ## Fetch and build what others wrote into bin/, once: containerd, CNI plugins, kubectl, parts of images
	@tools/setup/packages.sh
	@tools/setup/binaries.sh $(BIN)
	@tools/setup/rootfs.sh $(BIN)/debian

.PHONY: images
images: $(BIN)/images/.built ## Build the images into bin/images, as OCI archives
	@:

$(BIN)/images/.built: $(wildcard images/*.go images/*/*.go) tools/setup/rootfs.sh
	@tools/setup/rootfs.sh $(BIN)/debian
	@started=$$SECONDS; \
	go build -trimpath -ldflags '-s -w' -o $(BIN)/pause ./images/pause; \
	go run ./images/build -output $(BIN)/images -pause $(BIN)/pause -root $(BIN)/debian; \
	touch $@; echo " ✓ images ($$((SECONDS - started))s)"

.PHONY: test
test: bin build images ## Vet, and run all tests (as root: some start real nodes)
	@go vet $(PACKAGES)
	@go test -timeout 25m $(PACKAGES)
	@$(MAKE) --no-print-directory conformance-storage

.PHONY: lint
lint: ## Check the formatting, and vet
	@unformatted=$$(git ls-files '*.go' | grep -v zz_generated | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted as gofmt does:"; echo "$$unformatted"; exit 1; fi
	@go vet $(PACKAGES)

.PHONY: generate
generate: bin ## Generate the embedded API documents anew, from those of a genuine server, and the schemas, from client-go's
	@tools/openapi/run.sh $(BIN)
	@go test ./apiserver/schemas -run TestClientGo -update

.PHONY: conformance-storage
conformance-storage: ## Run the suites of k8s.io/apiserver on our store and cache: a module of its own, part of test
	@go -C conformance/storage vet ./...
	@go -C conformance/storage test ./...

FUZZTIME ?= 10m
.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME (10m): what clients send is answered, never with a failure of the server's own
	@grep -rlE '^func Fuzz' --include='*_test.go' $$(git ls-files '*_test.go') | xargs -n1 dirname | sort -u | while read -r folder; do \
		for target in $$(grep -hoE '^func Fuzz\w+' $$folder/*_test.go | cut -d' ' -f2); do \
			echo "$$folder $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./$$folder; \
		done; \
	done

.PHONY: guarantees
guarantees: ## Check for five minutes what is promised of writes, reads and watches, on a server that is killed again and again
	@GUARANTEES=5m go test -count=1 -v -run 'TestGuarantees$$' ./conformance/guarantees

.PHONY: conformance-api
conformance-api: bin ## Run the official suite's 159 tests that need no pod
	@tools/setup/suite.sh $(BIN)
	@go run ./tools/suite -bin $(BIN) -out $(BIN)/conformance api

.PHONY: conformance-simulated
conformance-simulated: bin ## Run these and the 60 that look at pods' status alone, on two simulated nodes
	@tools/setup/suite.sh $(BIN)
	@go run ./tools/suite -bin $(BIN) -out $(BIN)/conformance simulated

.PHONY: conformance
conformance: bin build images ## Run the whole official suite, 462 tests, on two real nodes
	@tools/setup/suite.sh $(BIN)
	@$(BIN)/kogge create cluster --name conformance --nodes 2 --wait $(WAIT) --kubeconfig $(BIN)/conformance.kubeconfig
	@trap '$(BIN)/kogge delete cluster --name conformance --kubeconfig $(BIN)/conformance.kubeconfig' EXIT; \
	go run ./tools/suite -bin $(BIN) -out $(BIN)/conformance -kubeconfig $(BIN)/conformance.kubeconfig all

.PHONY: microbench
microbench: ## Run the benchmarks of the hot paths
	@go test -run '^$$' -bench . -benchmem $(PACKAGES)

.PHONY: compare
compare: bin build images ## Hold our server against the genuine kube-apiserver
	@tools/compare/run.sh $(BIN)

.PHONY: compare-tutorials
compare-tutorials: bin build ## Run the suites of kubebuilder's tutorials on the genuine binaries and on ours
	@tools/setup/genuine.sh $(BIN)
	@tools/tutorials/run.sh $(BIN)

.PHONY: bench
bench: bin build images ## Measure the table in README: our control plane beside the genuine one
	@tools/setup/genuine.sh $(BIN)
	@tools/setup/kwok.sh $(BIN)
	@go run ./tools/bench -bin $(BIN) -example manifests/examples/nginx.yaml

.PHONY: crashes
crashes: ## Crash the controllers before and after each of their writes; make test does a sample
	@KOGGE_ALL_CRASHES=1 go test -timeout 30m -parallel 6 -run TestCrashes ./controllers
