#include "scheduling/policy/order/levels.h"
#include "scheduling/policy/order/orders.h"

namespace orrery {

std::unique_ptr<Order> make_las(const LasOptions& options) {
  return std::make_unique<LevelOrder>(
      LevelOrder::Options{.limits = options.limits, .promote = options.promote});
}

}  // namespace orrery
