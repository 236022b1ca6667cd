#include <algorithm>
#include <array>

#include "scheduling/policy/entries.h"
#include "scheduling/policy/families.h"
#include "scheduling/policy/order/orders.h"

namespace orrery {
namespace {

using Made = Result<std::unique_ptr<Policy>>;

constexpr std::array kThemis = {
    OptionInfo{"lease",
               "shares are computed anew at most this often; auto: in every round, or after 10m",
               "10m"},
    OptionInfo{"isolated-rate",
               "true: jobs are compared by their speed in a share of their own; "
               "false: by that share, as published",
               "true"},
    OptionInfo{"priority",
               "owed: who has least of its share goes first; share: the largest share, anew in "
               "every lease, as ElasticFlow's simulator has it",
               "owed"},
    OptionInfo{"leftover",
               "where many shares are as fair: proportion, or centre (what a solver would find)",
               "proportion"},
    OptionInfo{"locality", "off: any free GPUs will do (placement first-fit)", "on"},
    OptionInfo{"sticky", "running jobs stay where they are", "true"}};
constexpr std::array<std::string_view, 2> kPriorities = {"owed", "share"};
constexpr std::array<std::string_view, 2> kLeftovers = {"proportion", "centre"};

Made themis(const Options& options, const PolicyContext& context) {
  ThemisOptions themis{.workload = &context.workload, .contention = context.contention};
  if (options.text("lease") != "auto") {
    TRY_ASSIGN(themis.lease, options.duration("lease"));
  } else if (context.round > Duration::zero()) {
    themis.lease = context.round;
  }
  TRY_ASSIGN(const int priority, options.choice("priority", kPriorities));
  themis.by_share = priority == 1;
  TRY_ASSIGN(const int leftover, options.choice("leftover", kLeftovers));
  themis.leftover = static_cast<Leftover>(leftover);
  TRY_ASSIGN(const bool rate, options.flag("isolated-rate"));
  themis.published_rate = !rate;
  TRY_ASSIGN(themis.sticky, options.flag("sticky"));
  return make_themis(themis);
}

Made antman(const Options& /*options*/, const PolicyContext& /*context*/) { return make_antman(); }

constexpr std::array<std::string_view, 2> kVariants = {"ours", "reference"};
constexpr std::array kGandiva = {
    OptionInfo{"quantum", "ours: who waits takes over from others this often; 0s: never", "1h"},
    OptionInfo{"variant", "ours, or reference: as released with ElasticFlow's simulator", "ours"}};

Made gandiva(const Options& options, const PolicyContext& context) {
  GandivaOptions gandiva{.workload = &context.workload};
  TRY_ASSIGN(gandiva.quantum, options.duration("quantum"));
  TRY_ASSIGN(const int variant, options.choice("variant", kVariants));
  return variant == 1 ? make_gandiva_published(gandiva) : make_gandiva(gandiva);
}

constexpr std::array<std::string_view, 3> kOrderings = {"best", "worst", "none"};
constexpr std::array<std::string_view, 2> kMatchings = {"blossom", "none"};
constexpr std::array kMuri = {
    OptionInfo{"packing", "at most this many jobs share devices", "4"},
    OptionInfo{"ordering", "the turns in a group: best, worst or none (as they come)", "best"},
    OptionInfo{"matching", "how groups are found: blossom, or none (neighbours in line)",
               "blossom"},
    OptionInfo{"variant", "ours, or reference: as the simulator was released", "ours"},
    OptionInfo{"slowdown", "ours: nobody in a group may take this many times as long", "8"},
    OptionInfo{"quantum", "ours: groups are formed anew at most this often", "1m"}};

template <std::size_t N>
constexpr std::array<OptionInfo, N + 1> with(const std::array<OptionInfo, N>& options,
                                             const OptionInfo& one_more) {
  std::array<OptionInfo, N + 1> all;
  std::ranges::copy(options, all.begin());
  all.back() = one_more;
  return all;
}

// Whoever knows the lengths of jobs does well to finish one after another, so sharing has to gain
// more there than where nobody does; see docs/systems/muri.md.
constexpr std::string_view kGain =
    "ours: a group must do this many times the work of its better half";
constexpr auto kMuriS = with(kMuri, {"gain", kGain, "auto"});
constexpr auto kMuriL = with(
    with(kMuri, {"gain", kGain, "1.05"}),
    {"limits", "ours: GPU time at which a job sinks to the next level", "3250s,7200s,10d,100d"});

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
Made muri_s(const Options& options, const PolicyContext& context) {
  return muri(options, context, false);
}
Made muri_l(const Options& options, const PolicyContext& context) {
  return muri(options, context, true);
}

constexpr JobData kAntmanData{
    .stages = true,
    .classes = true,
    .without = "an opportunistic job beside another runs at half its speed"};
constexpr JobData kMuriSData{.stages = true, .without = "such a job shares no GPU, as under srsf"};
constexpr JobData kMuriLData{.stages = true, .without = "such a job shares no GPU, as under las"};

constexpr std::array kFamilies = {
    PolicyInfo{"themis", "finish-time fairness: who has least of the share it is owed", kThemis,
               themis},
    PolicyInfo{"gandiva", "everybody in turn: time slicing by a quantum", kGandiva, gandiva},
    PolicyInfo{"antman", "guaranteed jobs own devices, opportunistic ones use what they leave",
               std::span<const OptionInfo>(), antman, nullptr, kAntmanData},
    PolicyInfo{"muri-s", "interleaved groups, shortest remaining service first", kMuriS, muri_s,
               nullptr, kMuriSData},
    PolicyInfo{"muri-l", "interleaved groups, least attained service first", kMuriL, muri_l,
               nullptr, kMuriLData},
};

}  // namespace

std::span<const PolicyInfo> family_policies() { return kFamilies; }

}  // namespace orrery
