#include "scheduling/policy/order/orders.h"

namespace orrery {
namespace {

// First come, first served.
class Fifo final : public Order {
 public:
  Rank rank(const View& view, JobId job) const override {
    return {seconds(view.spec(job).submitted), static_cast<std::int64_t>(job)};
  }
  bool is_settled() const override { return true; }
};

// Shortest job first, by the whole length the job was submitted with.
class Sjf final : public Order {
 public:
  Rank rank(const View& view, JobId job) const override {
    return {view.spec(job).duration_s(), static_cast<std::int64_t>(job)};
  }
  bool is_settled() const override { return true; }
};

}  // namespace

std::unique_ptr<Order> make_fifo() { return std::make_unique<Fifo>(); }
std::unique_ptr<Order> make_sjf() { return std::make_unique<Sjf>(); }

}  // namespace orrery
