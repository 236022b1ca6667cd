#include <algorithm>
#include <array>

#include "scheduling/policy/families.h"
#include "scheduling/policy/grouping/policies.h"
#include "scheduling/policy/order/orders.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 2> kVariants = {"ours", "reference"};
constexpr std::array<std::string_view, 3> kOrderings = {"best", "worst", "none"};
constexpr std::array<std::string_view, 2> kMatchings = {"blossom", "none"};
constexpr std::array kMuri = {
    OptionInfo{"packing", "at most this many jobs share devices", "4", "1 2 3 8"},
    OptionInfo{"ordering", "the order of jobs in a group: best, worst or none (as they come)",
               "best", "worst none"},
    OptionInfo{"matching", "how groups are found: blossom, or none (neighbours in line)", "blossom",
               "none"},
    OptionInfo{"variant", "ours, or reference: as released", "ours", "ours reference"},
    OptionInfo{"slowdown", "ours: no job in a group may take this many times as long", "8", "1.2"},
    OptionInfo{"quantum", "ours: groups are formed at most this often", "1m", "0s 10m"}};

template <std::size_t N>
constexpr std::array<OptionInfo, N + 1> with(const std::array<OptionInfo, N>& options,
                                             const OptionInfo& one_more) {
  std::array<OptionInfo, N + 1> all;
  std::ranges::copy(options, all.begin());
  all.back() = one_more;
  return all;
}

// A policy that knows the lengths of jobs does well to finish one after another, so sharing has to
// gain more there; see docs/systems/muri.md.
constexpr std::string_view kGain =
    "ours: a group must do this many times the work of its better half";
constexpr auto kMuriS = with(kMuri, {"gain", kGain, "auto", "1 1.5"});
constexpr auto kMuriL = with(with(kMuri, {"gain", kGain, "1.05", "1 1.5"}),
                             {"limits", "ours: GPU time at which a job sinks to the next level",
                              "3250s,7200s,10d,100d", "50s 30s,100s,300s"});

Result<std::unique_ptr<Policy>> muri(const Options& options, const PolicyContext& context,
                                     bool by_attained) {
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
  muri.gain_by_queue = options.text("gain") == "auto";
  if (!muri.gain_by_queue) {
    TRY_ASSIGN(muri.grouping.gain_min, options.number("gain", 1, 100));
  }
  TRY_ASSIGN(muri.grouping.slowdown_max, options.number("slowdown", 1, 1e6));
  TRY_ASSIGN(muri.quantum, options.duration("quantum"));
  if (!by_attained) return make_muri(muri, make_srtf({.by_service = true}));
  LasOptions las;
  TRY_ASSIGN(las.limits, options.durations("limits"));
  return make_muri(muri, make_las(las));
}
Result<std::unique_ptr<Policy>> muri_s(const Options& options, const PolicyContext& context) {
  return muri(options, context, false);
}
Result<std::unique_ptr<Policy>> muri_l(const Options& options, const PolicyContext& context) {
  return muri(options, context, true);
}

}  // namespace

const PolicyInfo kMuriSPolicy = {
    "muri-s",
    "interleaved groups, shortest remaining service first",
    kMuriS,
    muri_s,
    nullptr,
    {.stages = true, .without = "such a job shares no GPU, as under srsf"},
    {.shares_gpus = true}};
const PolicyInfo kMuriLPolicy = {
    "muri-l",
    "interleaved groups, least attained service first",
    kMuriL,
    muri_l,
    nullptr,
    {.stages = true, .without = "such a job shares no GPU, as under las"},
    {.shares_gpus = true}};

}  // namespace orrery
