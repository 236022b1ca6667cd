#include <array>

#include "policy/entries.h"
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
    OptionInfo{"locality", "off: any free GPUs will do (placement first-fit)", "on", "off", "off"},
    OptionInfo{"tick", "demotions are timed in whole units of this; 0s: exactly", "0s", "1s", "1s"},
    OptionInfo{"guesses",
               "demotions are timed by a guess, and the widest sink first, as ElasticFlow's "
               "simulator has it",
               "false", "", "true"},
    kPreempt,
    OptionInfo{kSticky.key, kSticky.meaning, "true", "false", "false"}};

Made las(const Options& options, const PolicyContext& /*context*/) {
  TRY_ASSIGN(const InOrderOptions how, in_order(options));
  LasOptions las;
  TRY_ASSIGN(las.limits, options.durations("limits"));
  TRY_ASSIGN(las.promote, options.number("promote", 0, 1e6));
  TRY_ASSIGN(las.tick, options.duration("tick"));
  TRY_ASSIGN(las.guesses, options.flag("guesses"));
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

constexpr std::array kOrders = {
    PolicyInfo{"fifo", "first come, first served", kFifo, fifo},
    PolicyInfo{"sjf", "shortest job first, by its whole length", kSjf, sjf},
    PolicyInfo{"srtf", "shortest remaining time first", kSrtf, srtf},
    PolicyInfo{"srsf", "shortest remaining service (time x GPUs) first", kSrtf, srsf},
    PolicyInfo{"las", "least attained service in levels (Tiresias)", kLas, las},
    PolicyInfo{"gittins", "likeliest to end soon for the service it takes (Tiresias)", kGittins,
               gittins},
};

}  // namespace

std::span<const PolicyInfo> order_policies() { return kOrders; }

}  // namespace orrery
