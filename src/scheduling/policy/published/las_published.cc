#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "scheduling/policy/order/levels.h"
#include "scheduling/policy/order/order_entry.h"
#include "scheduling/policy/published/makers.h"
#include "scheduling/policy/published/released_clock.h"

namespace orrery {
namespace {

// In which order jobs that sink at once do, and how the next one is timed.
enum class Sinking : std::uint8_t {
  ById,    // exactly
  Widest,  // the job with most GPUs first; timed by seconds off a limit in GPU seconds
};

// Least attained service as released with two simulators: the time a job takes to start counts as
// service, and demotions are timed in whole seconds. A job with short levels is then stopped again
// and again before it has done anything.
class LasPublished final : public LevelOrder {
 public:
  LasPublished(Options options, Sinking sinking, ReleasedClock* clock)
      : LevelOrder(std::move(options)), sinking_(sinking), clock_(clock) {
    // Promotions start the count of service again, which that clock does not know.
    if (this->options().promote > 0) clock_ = nullptr;
  }

  void started(const View& view, JobId job) override {
    if (!runs(job) && has_limit(job)) {
      running_.push_back({job, view.spec(job).gpus, seconds(limit(job)),
                          seconds(whole_seconds_for_each(view, job))});
    }
    LevelOrder::started(view, job);
  }

  void stopped(const View& view, JobId job) override {
    std::erase_if(running_, [&](const Running& other) { return other.job == job; });
    LevelOrder::stopped(view, job);
  }

  void refresh(const View& view, std::vector<JobId>& changed) override {
    leave(view);
    std::erase_if(running_, [&](const Running& one) {
      if (view.has_ended(one.job)) return true;
      const bool sinks_now =
          has_clock() ? held_s(one.job) * one.gpus >= one.limit_s : sinks(view, one.job);
      if (sinks_now) changed.push_back(one.job);
      return sinks_now;
    });
    collect_due(view, changed);
    std::ranges::sort(changed, {}, [&](JobId job) {
      return std::pair(sinking_ == Sinking::Widest ? -view.spec(job).gpus : 0, job);
    });
    change_levels(view, changed);
  }

  Time next_change(const View& view) override {
    const Time next = LevelOrder::next_change(view);
    return running_.empty() ? next : std::min(next, next_sinking(view));
  }

 private:
  struct Running {
    JobId job = kNoJob;
    int gpus = 0;
    double limit_s = 0;   // of its level, in GPU time
    double needed_s = 0;  // for each GPU, in whole seconds
  };

  Duration served(const View& view, JobId job) const override {
    return view.job(job).attained_at(view.now);
  }
  void watch_sinking(const View& /*view*/, JobId /*job*/) override {}

  bool has_clock() const { return clock_ != nullptr && clock_->runs; }
  double held_s(JobId job) const { return clock_->held_s[index(job)]; }

  Duration whole_seconds_for_each(const View& view, JobId job) const {
    constexpr Duration kTick = std::chrono::seconds(1);
    return (limit_for_each(view, job) + kTick - Duration(1)) / kTick * kTick;
  }

  Time next_sinking(const View& view) {
    if (!has_clock()) {
      Time next = kNever;
      for (const Running& one : running_) next = std::min(next, sinks_at(view, one.job));
      return next;
    }
    double rest_s = std::numeric_limits<double>::infinity();
    for (const Running& one : running_) {
      const double had_s = held_s(one.job);
      rest_s =
          std::min(rest_s, sinking_ == Sinking::Widest ? std::ceil((one.limit_s - had_s) / one.gpus)
                                                       : one.needed_s - had_s);
    }
    const double exact_s = std::max(rest_s + clock_->now_s, clock_->now_s);
    const Time at = time_from_seconds(exact_s);
    clock_->ask(exact_s, at);
    return at;
  }

  Time sinks_at(const View& view, JobId job) const {
    if (!has_limit(job)) return kNever;
    const Duration left = whole_seconds_for_each(view, job) - service(view, job);
    return std::max(view.now, view.now + left);
  }

  const Sinking sinking_;
  ReleasedClock* clock_;
  std::vector<Running> running_;
};

Line las(const Options& options, const PolicyContext& context, Sinking sinking) {
  LevelOrder::Options levels;
  TRY_ASSIGN(levels.limits, options.durations("limits"));
  TRY_ASSIGN(levels.promote, options.number("promote", 0, 1e6));
  std::unique_ptr<Order> order = std::make_unique<LasPublished>(levels, sinking, context.clock);
  return order;
}

}  // namespace

Line las_order_of_muri(const Options& options, const PolicyContext& context,
                       CountedSpeed /*counted*/) {
  return las(options, context, Sinking::ById);
}
Line las_order_of_elasticflow(const Options& options, const PolicyContext& context,
                              CountedSpeed /*counted*/) {
  return las(options, context, Sinking::Widest);
}
// Without levels: ranked by GPU time held.
Line las_order_of_synergy(const Options& /*options*/, const PolicyContext& /*context*/,
                          CountedSpeed /*counted*/) {
  return make_attained();
}

Made las_of_muri(const Options& options, const PolicyContext& context) {
  return served_in<las_order_of_muri>(options, context);
}
Made las_of_elasticflow(const Options& options, const PolicyContext& context) {
  return served_in<las_order_of_elasticflow>(options, context);
}
Made las_of_synergy(const Options& options, const PolicyContext& context) {
  return served_in<las_order_of_synergy>(options, context);
}

}  // namespace orrery
