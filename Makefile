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

# On a terminal ninja keeps to one line by itself; in a log it shows only what goes wrong.
ninja = $(if $(V),ninja -v,$(shell [ -t 2 ] && echo ninja || echo ninja --quiet)) -j$(JOBS) -C

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
	@$(fixed_addresses) $(ninja) build/$(1)
	$(say) "testing build/$(1)"
	@$(fixed_addresses) ctest --preset $(1) -j$(JOBS)
	@[ -d ../shared/reference ] || echo "== not run, as ../shared/reference is missing: the" \
	  "comparisons with the published simulators and with public traces"
endef

.DEFAULT_GOAL := build
.PHONY: help build packages data demo test faults goldens format asan tsan bench fuzz clean
.PHONY: check check-format check-rooms check-types check-tidy

## build: build/release/orrery and orrery-train, and nothing else
build:
	@tools/setup build
	@[ -f $(RELEASE)/build.ninja ] || $(MAKE) --no-print-directory -s $(RELEASE)/build.ninja
	$(say) "building $(RELEASE)/orrery and orrery-train ($(JOBS) jobs)"
	@$(ninja) $(RELEASE) orrery orrery-train

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

## demo: the main job, small: see README
demo: build
	$(say) "$(RELEASE)/orrery demo"
	@$(RELEASE)/orrery demo
	$(say) "examples/live_demo.sh"
	@examples/live_demo.sh $(RELEASE)/orrery
	$(say) "examples/train_demo.sh"
	@examples/train_demo.sh $(RELEASE)/orrery-train

## test: build everything and run every test
test:
	@tools/setup build test
	$(call tests,release)

## faults: FAULT_SEEDS worlds in which everything goes wrong (200 of them are part of test)
faults:
	@tools/setup build test
	$(call configure,release)
	@$(ninja) $(RELEASE) faults_test
	@cd $(RELEASE) && ORRERY_FAULT_SEEDS=$(FAULT_SEEDS) ctest -R '^InPart/Faults' -j$(JOBS) --output-on-failure

## goldens: write the event logs of every policy in every world to tests/golden, and show what changed
goldens: build
	@$(PYTHON) -B tests/golden/goldens.py $(RELEASE)/orrery --update

## check: format, rooms, sizes, classes, walks, types of the Python package, clang-tidy; any finding fails
check:
	@tools/setup build test bench check
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
	@tools/setup build test
	$(call tests,asan)

## tsan: the tests under ThreadSanitizer
tsan:
	@tools/setup build test
	$(call tests,tsan)

## bench: build and run everything in bench/ (BENCH=REGEX picks, BENCH_ARGS go to each)
bench:
	@tools/setup build test bench
	$(call configure,release)
	$(say) "building the benchmarks ($(JOBS) jobs)"
	@$(ninja) $(RELEASE) benches
	@for source in bench/*_bench.cc; do \
	  [ -f "$$source" ] || { echo "bench/ holds no *_bench.cc"; exit 1; }; \
	  printf '== %s\n' "$$source"; \
	  $(RELEASE)/$${source%.cc} $(if $(BENCH),--benchmark_filter='$(BENCH)') $(BENCH_ARGS) || exit 1; \
	done

## fuzz: every fuzz target for FUZZ_SECONDS each, from the corpus in build/fuzz/corpus
fuzz:
	@tools/setup build fuzz
	$(call configure,fuzz)
	$(say) "building the fuzz targets ($(JOBS) jobs)"
	@$(ninja) build/fuzz $(notdir $(basename $(wildcard fuzz/*_fuzz.cc)))
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
