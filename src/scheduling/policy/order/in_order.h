#pragma once

#include <memory>

#include "scheduling/policy/order/order.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// Grants GPUs in the order of a line; who does not find room is passed over, unless `backfill` is
// off. What each order-only policy is made of.
struct InOrderOptions {
  // Whether a job may take the place of running jobs that rank behind it.
  bool preempt = true;
  // Whether jobs further back may start while one before them finds no room.
  bool backfill = true;
  // Whether running jobs stay where they are. Otherwise the whole cluster is laid out anew in each
  // plan, as the published simulators do; without `preempt` they always stay.
  bool sticky = true;
};

std::unique_ptr<Policy> make_in_order(std::unique_ptr<Order> order, const InOrderOptions& options);

// The two ways of doing it.
std::unique_ptr<Policy> make_sticky(std::unique_ptr<Order> order, const InOrderOptions& options);
std::unique_ptr<Policy> make_anew(std::unique_ptr<Order> order);

// An exclusive grant of what the job asks for, at its own speed.
void fill_exclusive(Grant& grant, const JobSpec& spec);

}  // namespace orrery
