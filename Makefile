# A thin front: what a target needs is installed (tools/setup), configured (CMakePresets.json), built
# and run. `make help` lists the targets and the variables they take.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 60
FAULT_SEEDS ?= 10000
PYTHON ?= python3
CLANG_FORMAT ?= clang-format-14
export V SETUP

RELEASE := build/release
SOURCES = $(shell find src apps tests bench fuzz clients -name '*.h' -o -name '*.cc')

# $(call build,WHAT,FOLDER,TARGETS): with its progress in words.
build = tools/build "$(1)" $(2) $(JOBS) $(3)

say = @printf '== %s\n'

# ThreadSanitizer cannot cope with the address space of every kernel while it is randomised; where a
# container forbids switching that off, try without.
fixed_addresses := $(if $(filter tsan,$(MAKECMDGOALS)),$(shell setarch -R true 2>/dev/null && echo setarch -R))

# $(call configure,PRESET,OPTIONS)
define configure
	$(say) "configuring build/$(1)"
	@mkdir -p build
	@$(if $(V),cmake --preset $(1) $(2),cmake --preset $(1) $(2) >build/$(1).log 2>&1 || \
	  { cat build/$(1).log; exit 1; })
endef

# $(call tests,PRESET): builds everything of a preset and runs its tests.
define tests
	$(call configure,$(1))
	$(say) "building build/$(1) ($(JOBS) jobs)"
	@$(fixed_addresses) $(call build,everything with its tests,build/$(1))
	$(say) "testing build/$(1)"
	@$(fixed_addresses) ctest --preset $(1) -j$(JOBS)
	@[ -d ../shared/reference ] || echo "== not run, as ../shared/reference is missing: the" \
	  "comparisons with the published simulators and with public traces"
endef

.DEFAULT_GOAL := build
.PHONY: help build configured packages data demo test faults goldens format asan tsan bench fuzz clean
.PHONY: check check-format check-rooms check-types check-tidy

# orrery-train is a target where libtorch was found.
trainer = $$(ninja -C $(RELEASE) -t query orrery-train >/dev/null 2>&1 && echo orrery-train)

## build: build/release/orrery and orrery-train, and nothing else
build: configured
	$(say) "building $(RELEASE)/orrery and orrery-train ($(JOBS) jobs)"
	@$(call build,the scheduler and the trainer,$(RELEASE),orrery $(trainer))

configured:
	@tools/setup build train
	@[ -f $(RELEASE)/build.ninja ] || $(MAKE) --no-print-directory -s $(RELEASE)/build.ninja

# The tests are off here because their libraries may not be installed; `make test` turns them on in
# the same folder, and nothing is compiled twice.
$(RELEASE)/build.ninja:
	$(call configure,release,-DORRERY_TESTS=OFF -DORRERY_BENCH=OFF)

## packages: a .deb for each part of Orrery, in build/release/packages
packages: build
	@tools/setup packages
	$(say) "packing build/release/packages"
	@rm -rf $(RELEASE)/packages
	@cd $(RELEASE) && cpack >packages.log 2>&1 || { cat packages.log; exit 1; }
	@rm -rf $(RELEASE)/packages/_CPack_Packages; ls $(RELEASE)/packages/*.deb

## data: fetch real training sets (MNIST, Fashion-MNIST, a novel) into build/data
data:
	@tools/fetch_data

## demo: the main job, small: see README. The simulator is built and shown first
demo: configured
	$(say) "building the simulator ($(JOBS) jobs): the first table comes in a few minutes"
	@$(call build,the simulator,$(RELEASE),first_table)
	$(say) "orrery demo"
	@$(RELEASE)/apps/first_table
	$(say) "building the live scheduler and the trainer ($(JOBS) jobs), for real jobs and a training"
	@$(call build,the live scheduler and the trainer,$(RELEASE),orrery $(trainer))
	$(say) "examples/live_demo.sh"
	@examples/live_demo.sh $(RELEASE)/orrery
	@if [ -n "$(trainer)" ]; then echo "== examples/train_demo.sh" && \
	  examples/train_demo.sh $(RELEASE)/orrery-train; \
	else echo "== no training demo: this system has no libtorch, so orrery-train was not built"; fi

## test: build everything and run every test
test:
	@tools/setup build train test test-torch
	$(call tests,release)

## faults: FAULT_SEEDS worlds in which everything goes wrong (200 of them are part of test)
faults:
	@tools/setup build train test
	$(call configure,release)
	@$(call build,the fault test,$(RELEASE),faults_test)
	@cd $(RELEASE) && ORRERY_FAULT_SEEDS=$(FAULT_SEEDS) ctest -R '^InPart/Faults' -j$(JOBS) --output-on-failure

## goldens: write the event logs of every policy in every world to tests/golden, and show what changed
goldens: build
	@$(PYTHON) -B tests/golden/goldens.py $(RELEASE)/orrery --update

## check: format, rooms, sizes, classes, walks, types of the Python package, clang-tidy; any finding fails
check:
	@tools/setup build train test bench check
	@$(MAKE) --no-print-directory -k -j1 check-format check-rooms check-types check-tidy
	$(say) "no findings"

check-format:
	$(say) "format"
	@$(CLANG_FORMAT) --dry-run -Werror $(SOURCES)

check-rooms:
	$(say) "rooms, sizes, classes and walks"
	@fault=0; for check in rooms sizes classes walks words; do \
	  $(PYTHON) -B tools/check_$$check.py . || fault=1; done; exit $$fault

check-types:
	$(say) "types of the Python package"
	@cd clients/python && mypy --cache-dir ../../build/mypy

check-tidy:
	$(call configure,release,-DORRERY_PCH=OFF)
	$(say) "clang-tidy ($(JOBS) jobs)"
	@run-clang-tidy -quiet -j$(JOBS) -p $(RELEASE) '$(CURDIR)/(src|apps|tests|bench)/' \
	  >build/clang-tidy.log 2>&1 || \
	  { sed -E 's/\x1b\[[0-9;]*m//g; /^clang-tidy|warnings? .*generated/d' build/clang-tidy.log; exit 1; }

## format: lay out every source file
format:
	@tools/setup check
	@$(CLANG_FORMAT) -i $(SOURCES)

## asan: the tests under AddressSanitizer and UndefinedBehaviorSanitizer
asan:
	@tools/setup build train test test-torch
	$(call tests,asan)

## tsan: the tests under ThreadSanitizer
tsan:
	@tools/setup build train test test-torch
	$(call tests,tsan)

## bench: build and run everything in bench/ (BENCH=REGEX picks, BENCH_ARGS go to each)
bench:
	@tools/setup build train test bench
	$(call configure,release)
	$(say) "building the benchmarks ($(JOBS) jobs)"
	@$(call build,the benchmarks,$(RELEASE),benches)
	@for source in bench/*_bench.cc; do \
	  [ -f "$$source" ] || { echo "bench/ holds no *_bench.cc"; exit 1; }; \
	  printf '== %s\n' "$$source"; \
	  $(RELEASE)/$${source%.cc} $(if $(BENCH),--benchmark_filter='$(BENCH)') $(BENCH_ARGS) || exit 1; \
	done

## fuzz: every fuzz target for FUZZ_SECONDS each, from the corpus in build/fuzz/corpus
fuzz:
	@tools/setup build train fuzz
	$(call configure,fuzz)
	$(say) "building the fuzz targets ($(JOBS) jobs)"
	@$(call build,the fuzz targets,build/fuzz,$(notdir $(basename $(wildcard fuzz/*_fuzz.cc))))
	@tools/fuzz $(FUZZ_SECONDS)

## clean: remove build/
clean:
	@rm -rf build

## help: this list
help:
	@sed -n 's/^## \([a-z]*\): /  \1\t/p' Makefile | expand -t 12
	@echo
	@echo "  JOBS=$(JOBS)  V=1 (show every command)  FUZZ_SECONDS=$(FUZZ_SECONDS)"
	@echo "  SETUP=no (install nothing)"
