#include <array>

#include "scheduling/policy/order/order_entry.h"
#include "scheduling/policy/order/policies.h"

namespace orrery {
namespace {

constexpr std::array kFtfOptions = {
    kPreempt, kSticky,
    OptionInfo{"first", "which job goes first: the most or the least delayed", "most",
               "most least"}};

Line ftf_order(const Options& options, const PolicyContext& /*context*/, CountedSpeed counted) {
  static constexpr std::array<std::string_view, 2> kChoices = {"most", "least"};
  TRY_ASSIGN(const int first, options.choice("first", kChoices));
  return make_ftf({.least_delayed_first = first == 1, .counted = counted});
}

constexpr std::array kServed = {kPreempt, kSticky};

Line drf_order(const Options& /*options*/, const PolicyContext& /*context*/,
               CountedSpeed /*counted*/) {
  return make_drf();
}
Line tetris_order(const Options& /*options*/, const PolicyContext& /*context*/,
                  CountedSpeed counted) {
  return make_tetris(counted);
}

}  // namespace

const PolicyInfo kFtfPolicy = {"ftf", "most delayed by the cluster first (finish-time fairness)",
                               kFtfOptions, served_in<ftf_order>, ftf_order};
const PolicyInfo kDrfPolicy = {"drf", "smallest dominant share of the cluster first", kServed,
                               served_in<drf_order>, drf_order};
const PolicyInfo kTetrisPolicy = {"tetris", "least GPUs, CPUs and memory x remaining time first",
                                  kServed, served_in<tetris_order>, tetris_order};

}  // namespace orrery
