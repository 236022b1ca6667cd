#include "policy/in_order.h"

namespace orrery {

std::unique_ptr<Policy> make_in_order(std::unique_ptr<Order> order, const InOrderOptions& options) {
  // Laying out anew would stop or move those who run, which is what preempting means.
  const bool stays = options.sticky || !options.preempt;
  return stays ? make_sticky(std::move(order), options) : make_anew(std::move(order));
}

void fill_exclusive(Grant& grant, const JobSpec& spec) {
  grant.cpu_milli = spec.cpu_milli;
  grant.memory_bytes = spec.memory_bytes;
  grant.iterations_per_s = 1 / spec.iteration_s;
}

}  // namespace orrery
