#pragma once

#include "scheduling/policy/order/in_order.h"
#include "scheduling/policy/order/orders.h"
#include "scheduling/policy/registry.h"

namespace orrery {

// For the entries of policies that are an order and the way it is served.
using Made = Result<std::unique_ptr<Policy>>;
using Line = Result<std::unique_ptr<Order>>;

inline constexpr OptionInfo kSticky = {
    "sticky", "running jobs stay where they are; false: all jobs are placed again in each round",
    "true", "true false"};
inline constexpr OptionInfo kPreempt = {
    "preempt", "a job may take the place of running jobs that rank behind it", "true",
    "true false"};

inline Result<InOrderOptions> in_order(const Options& options) {
  InOrderOptions result;
  TRY_ASSIGN(result.sticky, options.flag("sticky"));
  TRY_ASSIGN(result.preempt, options.flag("preempt"));
  return result;
}

template <MakeOrder* kOrder>
Made served_in(const Options& options, const PolicyContext& context) {
  TRY_ASSIGN(const InOrderOptions how, in_order(options));
  TRY_ASSIGN(auto order, kOrder(options, context, CountedSpeed::Measured));
  return make_in_order(std::move(order), how);
}

}  // namespace orrery
