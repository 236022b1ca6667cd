#include "policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "policy/families.h"
#include "policy/in_order.h"
#include "policy/orders.h"
#include "policy/services.h"

namespace orrery {
namespace {

using Made = Result<std::unique_ptr<Policy>>;

constexpr OptionInfo kSticky = {
    "sticky", "running jobs stay where they are instead of being laid out anew in each round",
    "true", "false"};
constexpr OptionInfo kPreempt = {
    "preempt", "a job may take the place of running jobs that rank behind it", "true"};

Result<InOrderOptions> in_order(const Options& options) {
  InOrderOptions result;
  TRY_ASSIGN(result.sticky, options.flag("sticky"));
  TRY_ASSIGN(result.preempt, options.flag("preempt"));
  return result;
}

constexpr std::array kFifo = {OptionInfo{
    "backfill", "jobs further back may start while one before them finds no room", "true"}};

Made fifo(const Options& options, const PolicyContext& /*context*/) {
  InOrderOptions in_order{.preempt = false};
  TRY_ASSIGN(in_order.backfill, options.flag("backfill"));
  return make_in_order(make_fifo(), in_order);
}

constexpr std::array kSjf = {
    OptionInfo{"preempt", "a job may take the place of longer ones that run", "false"}, kSticky};

Made sjf(const Options& options, const PolicyContext& /*context*/) {
  TRY_ASSIGN(const InOrderOptions how, in_order(options));
  return make_in_order(make_sjf(), how);
}

constexpr std::array kSrtf = {
    kPreempt, kSticky,
    OptionInfo{"count-start", "the start-up time before a job counts as time remaining", "true",
               "false"}};

Made shortest(const Options& options, bool by_service) {
  TRY_ASSIGN(const InOrderOptions how, in_order(options));
  SrtfOptions srtf{.by_service = by_service};
  TRY_ASSIGN(srtf.count_start, options.flag("count-start"));
  return make_in_order(make_srtf(srtf), how);
}
Made srtf(const Options& options, const PolicyContext& /*context*/) {
  return shortest(options, false);
}
Made srsf(const Options& options, const PolicyContext& /*context*/) {
  return shortest(options, true);
}

constexpr std::array kLas = {
    OptionInfo{"limits", "GPU time at which a job sinks to the next level", "3250s,7200s"},
    OptionInfo{"promote",
               "a job that waited this many times as long as it ran starts over in the "
               "first level; 0: never",
               "0"},
    OptionInfo{"locality", "off: any free GPUs will do (placement first-fit)", "on", "off"},
    OptionInfo{"tick", "demotions are timed in whole units of this; 0s: exactly", "0s", "1s"},
    kPreempt,
    kSticky};

Made las(const Options& options, const PolicyContext& /*context*/) {
  TRY_ASSIGN(const InOrderOptions how, in_order(options));
  LasOptions las;
  TRY_ASSIGN(las.limits, options.durations("limits"));
  TRY_ASSIGN(las.promote, options.number("promote", 0, 1e6));
  TRY_ASSIGN(las.tick, options.duration("tick"));
  return make_in_order(make_las(las), how);
}

constexpr std::array kGittins = {
    OptionInfo{"distribution",
               "file of past services in GPU seconds (CSV column `duration`); "
               "empty: learnt from the jobs that finish",
               ""},
    OptionInfo{"delta", "how far ahead, in GPU time, a job's end counts as soon", "3250s"},
    kPreempt, kSticky};

Made gittins(const Options& options, const PolicyContext& /*context*/) {
  TRY_ASSIGN(const InOrderOptions how, in_order(options));
  GittinsOptions gittins;
  TRY_ASSIGN(gittins.delta, options.duration("delta"));
  if (gittins.delta == Duration::zero()) return invalid("option delta=0: expected more than that");
  const std::string path = options.text("distribution");
  if (!path.empty()) {
    TRY_ASSIGN(gittins.services, read_services(path));
  }
  return make_in_order(make_gittins(gittins), how);
}

constexpr std::array kThemis = {
    OptionInfo{"lease", "shares are computed anew at most this often", "10m", "0s"},
    OptionInfo{"isolated-rate",
               "true: jobs are compared by their speed in a share of their own; "
               "false: by that share, as published",
               "true", "false"},
    kSticky};

Made themis(const Options& options, const PolicyContext& context) {
  ThemisOptions themis{.workload = &context.workload, .contention = context.contention};
  TRY_ASSIGN(themis.lease, options.duration("lease"));
  TRY_ASSIGN(const bool rate, options.flag("isolated-rate"));
  themis.published_rate = !rate;
  TRY_ASSIGN(themis.sticky, options.flag("sticky"));
  return make_themis(themis);
}

Made antman(const Options& /*options*/, const PolicyContext& /*context*/) { return make_antman(); }

constexpr std::array<std::string_view, 3> kOrderings = {"best", "worst", "none"};
constexpr std::array<std::string_view, 2> kVariants = {"ours", "reference"};
constexpr std::array<std::string_view, 2> kMatchings = {"blossom", "none"};
#define ORRERY_MURI_OPTIONS                                                                       \
  OptionInfo{"packing", "at most this many jobs share devices", "4"},                             \
      OptionInfo{"ordering", "the turns in a group: best, worst or none (as they come)", "best"}, \
      OptionInfo{"matching", "how groups are found: blossom, or none (neighbours in line)",       \
                 "blossom"},                                                                      \
      OptionInfo{"variant", "ours, or reference: as the simulator was released", "ours",          \
                 "reference"},                                                                    \
      OptionInfo{"gain", "ours: a group must do this many times the work of its better half",     \
                 "1.05"},                                                                         \
      OptionInfo{"slowdown", "ours: nobody in a group may take this many times as long", "8"},    \
      OptionInfo {                                                                                \
    "quantum", "ours: groups are formed anew at most this often", "1m"                            \
  }

constexpr std::array kMuriS = {ORRERY_MURI_OPTIONS};
constexpr std::array kMuriL = {
    ORRERY_MURI_OPTIONS,
    OptionInfo{"limits", "ours: GPU time at which a job sinks to the next level",
               "3250s,7200s,10d,100d"}};

Made muri(const Options& options, const PolicyContext& context, bool by_attained) {
  MuriOptions muri{.workload = &context.workload, .by_attained = by_attained};
  muri.contention = context.contention;
  TRY_ASSIGN(muri.grouping.packing, options.integer("packing", 1, kGroupMax));
  TRY_ASSIGN(const int ordering, options.choice("ordering", kOrderings));
  muri.grouping.ordering = static_cast<Ordering>(ordering);
  TRY_ASSIGN(const int matching, options.choice("matching", kMatchings));
  muri.grouping.matching = matching == 0;
  TRY_ASSIGN(const int variant, options.choice("variant", kVariants));
  if (variant == 1) {
    muri.grouping.by_efficiency = true;
    muri.grouping.best_first = false;
    return make_muri_published(muri);
  }
  TRY_ASSIGN(muri.grouping.gain_min, options.number("gain", 1, 100));
  TRY_ASSIGN(muri.grouping.slowdown_max, options.number("slowdown", 1, 1e6));
  TRY_ASSIGN(muri.quantum, options.duration("quantum"));
  if (!by_attained) return make_muri(muri, make_srtf({.by_service = true}));
  LasOptions las;
  TRY_ASSIGN(las.limits, options.durations("limits"));
  return make_muri(muri, make_las(las));
}
Made muri_s(const Options& options, const PolicyContext& context) {
  return muri(options, context, false);
}
Made muri_l(const Options& options, const PolicyContext& context) {
  return muri(options, context, true);
}

constexpr std::array kPolicies = {
    PolicyInfo{"fifo", "first come, first served", kFifo, fifo},
    PolicyInfo{"sjf", "shortest job first, by its whole length", kSjf, sjf},
    PolicyInfo{"srtf", "shortest remaining time first", kSrtf, srtf},
    PolicyInfo{"srsf", "shortest remaining service (time x GPUs) first", kSrtf, srsf},
    PolicyInfo{"las", "least attained service in levels (Tiresias)", kLas, las},
    PolicyInfo{"gittins", "likeliest to end soon for the service it takes (Tiresias)", kGittins,
               gittins},
    PolicyInfo{"themis", "finish-time fairness: who has least of the share it is owed", kThemis,
               themis},
    PolicyInfo{"antman", "guaranteed jobs own devices, opportunistic ones use what they leave",
               std::span<const OptionInfo>(), antman},
    PolicyInfo{"muri-s", "interleaved groups, shortest remaining service first", kMuriS, muri_s},
    PolicyInfo{"muri-l", "interleaved groups, least attained service first", kMuriL, muri_l},
};

constexpr std::array kCommon = {
    OptionInfo{"placement",
               "which free devices: consolidated, first-fit, best-fit, spread, "
               "random, topology",
               "consolidated"}};

}  // namespace

std::span<const PolicyInfo> policies() { return kPolicies; }
std::span<const OptionInfo> common_options() { return kCommon; }

Result<PolicySetup> make_policy(std::string_view name,
                                const std::map<std::string, std::string>& options,
                                const PolicyContext& context) {
  const auto info = std::ranges::find(kPolicies, name, &PolicyInfo::name);
  if (info == kPolicies.end()) {
    std::vector<std::string_view> names;
    for (const PolicyInfo& policy : kPolicies) names.push_back(policy.name);
    return invalid(
        fmt::format("there is no policy '{}'; choose one of {}", name, fmt::join(names, ", ")));
  }
  const std::array<std::span<const OptionInfo>, 2> tables = {info->options, kCommon};
  TRY(check_keys(name, tables, options));
  const Options own(info->options, context.defaults, options);
  const Options common(kCommon, context.defaults, options);
  std::string placement = common.text("placement");
  const bool has_locality =
      std::ranges::find(info->options, "locality", &OptionInfo::key) != info->options.end();
  if (has_locality) {
    TRY_ASSIGN(const bool locality, own.flag("locality"));
    if (!locality) placement = "first-fit";
  }
  PolicySetup setup;
  TRY_ASSIGN(setup.rule, make_placement_rule(placement, context.seed));
  TRY_ASSIGN(setup.policy, info->make(own, context));
  return setup;
}

}  // namespace orrery
