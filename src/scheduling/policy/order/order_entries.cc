#include <array>

#include "scheduling/policy/entries.h"
#include "scheduling/policy/host/served.h"
#include "scheduling/policy/order/services.h"

namespace orrery {
namespace {

constexpr std::array kFifo = {OptionInfo{
    "backfill", "jobs further back may start while one before them finds no room", "true"}};

Line fifo_order(const Options& /*options*/, CountedSpeed /*counted*/) { return make_fifo(); }

Made fifo(const Options& options, const PolicyContext& /*context*/) {
  InOrderOptions in_order{.preempt = false};
  TRY_ASSIGN(in_order.backfill, options.flag("backfill"));
  return make_in_order(make_fifo(), in_order);
}

constexpr std::array kSjf = {
    OptionInfo{"preempt", "a job may take the place of longer ones that run", "false"}, kSticky};

Line sjf_order(const Options& /*options*/, CountedSpeed /*counted*/) { return make_sjf(); }

constexpr std::array kSrtf = {
    kPreempt, kSticky,
    OptionInfo{"count-start", "the start-up time before a job counts as time remaining", "true"}};

Line shortest(const Options& options, CountedSpeed counted, bool by_service) {
  SrtfOptions srtf{.by_service = by_service, .counted = counted};
  TRY_ASSIGN(srtf.count_start, options.flag("count-start"));
  return make_srtf(srtf);
}
Line srtf_order(const Options& options, CountedSpeed counted) {
  return shortest(options, counted, false);
}
Line srsf_order(const Options& options, CountedSpeed counted) {
  return shortest(options, counted, true);
}

constexpr std::array kLas = {
    OptionInfo{"limits", "GPU time at which a job sinks to the next level", "3250s,7200s"},
    OptionInfo{"promote",
               "a job that waited this many times as long as it ran starts over in the "
               "first level; 0: never",
               "0"},
    OptionInfo{"locality", "off: any free GPUs will do (placement first-fit)", "on"},
    OptionInfo{"tick", "demotions are timed in whole units of this; 0s: exactly", "0s"},
    OptionInfo{"guesses",
               "demotions are timed by a guess, and the widest sink first, as ElasticFlow's "
               "simulator has it",
               "false"},
    OptionInfo{"levels", "off: ranked by the GPU time itself", "on"},
    OptionInfo{"by-count",
               "with an allocator: who runs is chosen by GPUs alone, and under tune the largest "
               "is seated first",
               "false"},
    kPreempt,
    kSticky};

Line las_order(const Options& options, CountedSpeed /*counted*/) {
  TRY_ASSIGN(const bool levels, options.flag("levels"));
  TRY_ASSIGN(const bool by_count, options.flag("by-count"));
  static_cast<void>(by_count);
  LasOptions las;
  TRY_ASSIGN(las.limits, options.durations("limits"));
  TRY_ASSIGN(las.promote, options.number("promote", 0, 1e6));
  TRY_ASSIGN(las.tick, options.duration("tick"));
  TRY_ASSIGN(las.guesses, options.flag("guesses"));
  if (!levels) return make_attained();
  return make_las(las);
}

constexpr std::array kGittins = {
    OptionInfo{"distribution",
               "file of past services in GPU seconds (CSV column `duration`); "
               "empty: learnt from the jobs that finish",
               ""},
    OptionInfo{"delta", "how far ahead, in GPU time, a job's end counts as soon", "3250s"},
    kPreempt, kSticky};

Line gittins_order(const Options& options, CountedSpeed /*counted*/) {
  GittinsOptions gittins;
  TRY_ASSIGN(gittins.delta, options.duration("delta"));
  if (gittins.delta == Duration::zero()) return invalid("option delta=0: expected more than that");
  const std::string path = options.text("distribution");
  if (!path.empty()) {
    TRY_ASSIGN(gittins.services, read_services(path));
  }
  return make_gittins(gittins);
}

constexpr std::array kOrders = {
    PolicyInfo{"fifo", "first come, first served", kFifo, fifo, fifo_order},
    PolicyInfo{"sjf", "shortest job first, by its whole length", kSjf, served_in<sjf_order>,
               sjf_order},
    PolicyInfo{"srtf", "shortest remaining time first", kSrtf, served_in<srtf_order>, srtf_order},
    PolicyInfo{"srsf", "shortest remaining service (time x GPUs) first", kSrtf,
               served_in<srsf_order>, srsf_order},
    PolicyInfo{"las", "least attained service in levels (Tiresias)", kLas, served_in<las_order>,
               las_order},
    PolicyInfo{"gittins", "likeliest to end soon for the service it takes (Tiresias)", kGittins,
               served_in<gittins_order>, gittins_order},
};

}  // namespace

std::span<const PolicyInfo> order_policies() { return kOrders; }

}  // namespace orrery
