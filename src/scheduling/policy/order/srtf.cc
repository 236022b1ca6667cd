#include <array>

#include "scheduling/policy/order/order_entry.h"
#include "scheduling/policy/order/orders.h"
#include "scheduling/policy/order/policies.h"

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

namespace {

constexpr std::array kSrtfOptions = {
    kPreempt, kSticky,
    OptionInfo{"count-start", "the start-up time before a job counts as time remaining", "true",
               "true false"}};

Line shortest(const Options& options, CountedSpeed counted, bool by_service) {
  SrtfOptions srtf{.by_service = by_service, .counted = counted};
  TRY_ASSIGN(srtf.count_start, options.flag("count-start"));
  return make_srtf(srtf);
}
Line srtf_order(const Options& options, const PolicyContext& /*context*/, CountedSpeed counted) {
  return shortest(options, counted, false);
}
Line srsf_order(const Options& options, const PolicyContext& /*context*/, CountedSpeed counted) {
  return shortest(options, counted, true);
}

}  // namespace

const PolicyInfo kSrtfPolicy = {"srtf", "shortest remaining time first", kSrtfOptions,
                                served_in<srtf_order>, srtf_order};
const PolicyInfo kSrsfPolicy = {"srsf", "shortest remaining service (time x GPUs) first",
                                kSrtfOptions, served_in<srsf_order>, srsf_order};

}  // namespace orrery
