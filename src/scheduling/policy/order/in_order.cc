#include "scheduling/policy/order/in_order.h"

#include "scheduling/policy/order/sticky.h"

namespace orrery {
namespace {

class Sticky final : public Policy {
 public:
  Sticky(std::unique_ptr<Order> order, const InOrderOptions& options)
      : planner_(std::move(order), options) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    planner_.absorb(view, packer, plan);
    planner_.ask(view, packer, plan);
  }

 private:
  StickyPlanner planner_;
};

}  // namespace

std::unique_ptr<Policy> make_sticky(std::unique_ptr<Order> order, const InOrderOptions& options) {
  return std::make_unique<Sticky>(std::move(order), options);
}

std::unique_ptr<Policy> make_in_order(std::unique_ptr<Order> order, const InOrderOptions& options) {
  // A rebuilt plan would stop or move running jobs, which is what preempting means.
  const bool stays = options.sticky || !options.preempt;
  return stays ? make_sticky(std::move(order), options) : make_rebuilt_plan(std::move(order));
}

void fill_exclusive(Grant& grant, const JobSpec& spec) {
  grant.cpu_milli = spec.cpu_milli;
  grant.memory_bytes = spec.memory_bytes;
  grant.iterations_per_s = 1 / spec.iteration_s;
}

}  // namespace orrery
