#include <array>

#include "scheduling/policy/order/order_entry.h"
#include "scheduling/policy/order/orders.h"
#include "scheduling/policy/order/policies.h"

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

namespace {

constexpr std::array kFifoOptions = {OptionInfo{
    "backfill", "jobs further back may start while one before them does not fit", "true", "false"}};

Line fifo_order(const Options& /*options*/, const PolicyContext& /*context*/,
                CountedSpeed /*counted*/) {
  return make_fifo();
}

Made fifo(const Options& options, const PolicyContext& /*context*/) {
  InOrderOptions in_order{.preempt = false};
  TRY_ASSIGN(in_order.backfill, options.flag("backfill"));
  return make_in_order(make_fifo(), in_order);
}

constexpr std::array kSjfOptions = {
    OptionInfo{"preempt", "a job may take the place of longer ones that run", "false",
               "true false"},
    kSticky};

Line sjf_order(const Options& /*options*/, const PolicyContext& /*context*/,
               CountedSpeed /*counted*/) {
  return make_sjf();
}

}  // namespace

const PolicyInfo kFifoPolicy = {"fifo", "first come, first served", kFifoOptions, fifo, fifo_order,
                                {},     {.preempts = false}};
const PolicyInfo kSjfPolicy = {"sjf", "shortest job first, by its whole length", kSjfOptions,
                               served_in<sjf_order>, sjf_order};

}  // namespace orrery
