#pragma once

#include <memory>

#include "scheduling/policy/order/order.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// Grants GPUs in the order of a line; a job that does not fit is passed over, unless `backfill` is
// off. What each order-only policy is made of.
struct InOrderOptions {
  // True if a job may take the place of running jobs that rank behind it.
  bool preempt = true;
  // True if jobs further back may start while one before them does not fit.
  bool backfill = true;
  // True if running jobs stay where they are. Otherwise the whole cluster is laid out again in each
  // plan, from empty; without `preempt` they always stay.
  bool sticky = true;
};

std::unique_ptr<Policy> make_in_order(std::unique_ptr<Order> order, const InOrderOptions& options);

// The two ways of doing it.
std::unique_ptr<Policy> make_sticky(std::unique_ptr<Order> order, const InOrderOptions& options);
std::unique_ptr<Policy> make_rebuilt_plan(std::unique_ptr<Order> order);

// An exclusive grant of what the job asks for, at its own speed.
void fill_exclusive(Grant& grant, const JobSpec& spec);

}  // namespace orrery
