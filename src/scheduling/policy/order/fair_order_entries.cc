#include <array>

#include "scheduling/policy/entries.h"
#include "scheduling/policy/host/served.h"

namespace orrery {
namespace {

constexpr std::array kFtf = {
    kPreempt, kSticky,
    OptionInfo{"first", "who goes first: the most or the least delayed", "most"}};

Line ftf_order(const Options& options, CountedSpeed counted) {
  static constexpr std::array<std::string_view, 2> kChoices = {"most", "least"};
  TRY_ASSIGN(const int first, options.choice("first", kChoices));
  return make_ftf({.least_delayed_first = first == 1, .counted = counted});
}

constexpr std::array kServed = {kPreempt, kSticky};

Line drf_order(const Options& /*options*/, CountedSpeed /*counted*/) { return make_drf(); }
Line tetris_order(const Options& /*options*/, CountedSpeed counted) { return make_tetris(counted); }

constexpr std::array kOrders = {
    PolicyInfo{"ftf", "most delayed by the cluster first (finish-time fairness)", kFtf,
               served_in<ftf_order>, ftf_order},
    PolicyInfo{"drf", "smallest dominant share of the cluster first", kServed, served_in<drf_order>,
               drf_order},
    PolicyInfo{"tetris", "least GPUs, CPUs and memory x remaining time first", kServed,
               served_in<tetris_order>, tetris_order},
};

}  // namespace

std::span<const PolicyInfo> fair_order_policies() { return kOrders; }

}  // namespace orrery
