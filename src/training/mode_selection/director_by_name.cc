#include "training/mode_selection/director_by_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "base/nearest_word.h"
#include "training/sync/mode.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 13> kNames = {"ssgd",
                                                     "asgd",
                                                     "static",
                                                     "dynamic",
                                                     "ssp",
                                                     "lgc",
                                                     "ring",
                                                     "zeno++",
                                                     "lb-bsp",
                                                     "star",
                                                     "sync-switch",
                                                     "sync-switch-elastic",
                                                     "sync-switch-plain"};

bool needs_servers(std::string_view name) {
  return name == "asgd" || name == "static" || name == "ssp" || name == "lgc" || name == "zeno++";
}

// Which names take a number, by themselves or with --x.
constexpr std::array<std::string_view, 4> kNumbered = {"static", "ssp", "lgc", "ring"};

// Pairs that mean nothing, and numbers that nothing would come of.
Status check_pair(std::string_view name, std::string_view asked, int x, Architecture architecture) {
  const std::string text = "mode " + std::string(asked);
  if (architecture == Architecture::AllReduce && needs_servers(name)) {
    return invalid(text +
                   " needs parameter servers; with all-reduce write ssgd, ring-N, dynamic, lb-bsp, "
                   "sync-switch or star");
  }
  if (architecture == Architecture::ParameterServers && name == "ring") {
    return invalid(text +
                   " needs all-reduce: write --arch allreduce; with parameter servers static-X "
                   "leaves the slowest behind");
  }
  if (x != 0 && std::ranges::find(kNumbered, name) == kNumbered.end()) {
    return invalid(text + ": " + std::string(name) +
                   " takes no number, but --x or the name gives " + std::to_string(x));
  }
  return {};
}

struct AskedFor {
  std::string_view name;
  int x = 0;
};

// "static-5" is static with x = 5, "static-x" is static with the x given apart.
Result<AskedFor> taken_apart(std::string_view name, int x) {
  for (const std::string_view numbered : {"static", "dynamic", "ssp", "lgc", "ring"}) {
    if (!name.starts_with(numbered) || name.size() <= numbered.size() ||
        name[numbered.size()] != '-') {
      continue;
    }
    const std::string_view rest = name.substr(numbered.size() + 1);
    if (rest == "x") return AskedFor{numbered, x};
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || end != rest.data() + rest.size()) {
      return invalid("mode '" + std::string(name) + "': write a number after " +
                     std::string(numbered) + "-, or " + std::string(numbered) + " with --x");
    }
    if (x > 0 && x != number) {
      return invalid("mode '" + std::string(name) + "' and --x " + std::to_string(x) +
                     " say different things");
    }
    return AskedFor{numbered, number};
  }
  return AskedFor{name, x};
}

Result<std::unique_ptr<Director>> ring_of(int x, int workers, const RegroupingOptions& options) {
  if (x < 0 || x > workers) {
    return invalid("mode ring: a ring of " + std::to_string(x) + " among " +
                   std::to_string(workers) + " workers; write 1 to " + std::to_string(workers));
  }
  return make_ring_director(x == 0 ? workers : x, options);
}

Result<std::unique_ptr<Director>> sync_switch(StragglerRule rule, const DirectorOptions& options) {
  SyncSwitchOptions asked = options.sync_switch;
  if (asked.samples_limit == 0) asked.samples_limit = options.samples_limit;
  if (asked.samples_limit <= 0) {
    return invalid("mode sync-switch: it needs to know how long the run is; give --steps");
  }
  asked.stragglers = rule;
  return make_sync_switch_director(asked);
}

std::unique_ptr<Director> star(DirectorOptions& options) {
  StarOptions asked = options.star;
  if (asked.samples_limit == 0) asked.samples_limit = options.samples_limit;
  asked.batch_least = options.batch_least;
  asked.blocks = options.blocks;
  return make_star_director(asked, std::move(options.predictors), std::move(options.regression),
                            std::move(options.grant));
}

}  // namespace

std::span<const std::string_view> director_names() { return kNames; }

Result<std::unique_ptr<Director>> director_by_name(std::string_view name, int x,
                                                   DirectorOptions options) {
  TRY_ASSIGN(const AskedFor asked, taken_apart(name, x));
  RegroupingOptions regrouping = options.regrouping;
  regrouping.batch_least = options.batch_least;
  regrouping.blocks = options.blocks;
  const bool known = std::ranges::find(kNames, asked.name) != kNames.end();
  if (known) TRY(check_pair(asked.name, name, asked.x, options.architecture));
  if (asked.name == "star") return Result<std::unique_ptr<Director>>(star(options));
  if (asked.name == "dynamic") return make_dynamic_director(regrouping);
  if (asked.name == "lgc" && asked.x == 0) return make_lgc_director(regrouping);
  if (asked.name == "lb-bsp") {
    LbBspOptions lb_bsp = options.lb_bsp;
    lb_bsp.batch_least = options.batch_least;
    return make_lb_bsp_director(lb_bsp);
  }
  if (asked.name == "sync-switch") return sync_switch(StragglerRule::Greedy, options);
  if (asked.name == "sync-switch-elastic") return sync_switch(StragglerRule::Elastic, options);
  if (asked.name == "sync-switch-plain") return sync_switch(StragglerRule::None, options);
  if (asked.name == "ring") return ring_of(asked.x, options.workers, regrouping);
  if (known) {
    TRY_ASSIGN(Mode mode, fixed_mode(asked.name, asked.x, options.workers));
    return make_fixed_director(std::move(mode));
  }
  return invalid("no mode '" + std::string(name) + "'; nearest is " +
                 std::string(nearest_word(name, kNames)));
}

}  // namespace orrery
