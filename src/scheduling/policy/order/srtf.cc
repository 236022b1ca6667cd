#include "scheduling/policy/order/orders.h"

namespace orrery {
namespace {

// Shortest remaining time first. With `by_service` the time counts once for each GPU (SRSF), so
// that of two equally long jobs the smaller goes first.
class Srtf final : public Order {
 public:
  explicit Srtf(const SrtfOptions& options) : options_(options) {}

  void arrived(const View& view, JobId id) override {
    if (options_.counted != CountedSpeed::Measured) needs_.add(view, id);
  }

  Rank rank(const View& view, JobId id) const override {
    const Job& job = view.job(id);
    double remaining_s = counted_s(view, id, view.work_left(id), needs_, options_.counted);
    if (options_.count_start) {
      const bool runs = job.state == JobState::Running;
      const Duration start = runs ? job.ready - view.now : job.spec->start_cost;
      if (start > Duration::zero()) remaining_s += seconds(start);
    }
    if (options_.by_service) remaining_s *= job.spec->gpus;
    return {remaining_s, static_cast<std::int64_t>(id)};
  }

  // All of one size get shorter at the same rate, so they end in the order of their ranks.
  Rank standing(const View& view, JobId id) const override {
    const Rank now = rank(view, id);
    const int gpus = options_.by_service ? view.spec(id).gpus : 1;
    return {seconds(view.now) + now.key / gpus, now.ticket};
  }

 private:
  const SrtfOptions options_;
  HostNeeds needs_;
};

}  // namespace

std::unique_ptr<Order> make_srtf(const SrtfOptions& options) {
  return std::make_unique<Srtf>(options);
}

}  // namespace orrery
