#include "scheduling/policy/order/order.h"

namespace orrery {

void Order::arrived(const View& /*view*/, JobId /*job*/) {}
void Order::started(const View& /*view*/, JobId /*job*/) {}
void Order::stopped(const View& /*view*/, JobId /*job*/) {}
void Order::refresh(const View& /*view*/, std::vector<JobId>& /*changed*/) {}
Time Order::next_change(const View& /*view*/) { return kNever; }

}  // namespace orrery
