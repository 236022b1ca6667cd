#include <array>

#include "scheduling/policy/order/levels.h"
#include "scheduling/policy/order/order_entry.h"
#include "scheduling/policy/order/orders.h"
#include "scheduling/policy/order/policies.h"

namespace orrery {

std::unique_ptr<Order> make_las(const LasOptions& options) {
  return std::make_unique<LevelOrder>(
      LevelOrder::Options{.limits = options.limits, .promote = options.promote});
}

namespace {

constexpr std::array kLasOptions = {
    OptionInfo{"limits", "GPU time at which a job sinks to the next level", "3250s,7200s",
               "50s 30s,100s,300s"},
    OptionInfo{"promote",
               "a job that waited this many times as long as it ran starts over in the "
               "first level; 0: never",
               "0", "0.5"},
    OptionInfo{"locality", "off: any free GPUs will do (placement first-fit)", "on", "on off"},
    kPreempt, kSticky};

Line las_order(const Options& options, const PolicyContext& /*context*/, CountedSpeed /*counted*/) {
  LasOptions las;
  TRY_ASSIGN(las.limits, options.durations("limits"));
  TRY_ASSIGN(las.promote, options.number("promote", 0, 1e6));
  return make_las(las);
}

}  // namespace

const PolicyInfo kLasPolicy = {"las", "least attained service in levels (Tiresias)", kLasOptions,
                               served_in<las_order>, las_order};

}  // namespace orrery
