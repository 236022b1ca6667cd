#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/invariant.h"
#include "scheduling/policy/order/levels.h"
#include "scheduling/policy/order/order_entry.h"
#include "scheduling/policy/order/orders.h"
#include "scheduling/policy/order/policies.h"
#include "scheduling/policy/order/services.h"

namespace orrery {
namespace {

constexpr std::size_t kSamplesMin = 16;  // below, the order is that of least attained service
constexpr Duration kLastLimit = std::chrono::hours(24 * 365 * 100);

std::vector<Duration> doubling(Duration delta) {
  std::vector<Duration> limits;
  for (Duration limit = delta; limit < kLastLimit; limit *= 2) limits.push_back(limit);
  return limits;
}

class Gittins final : public LevelOrder {
 public:
  explicit Gittins(const GittinsOptions& options)
      : LevelOrder({.limits = doubling(options.delta)}),
        delta_s_(seconds(options.delta)),
        learns_(options.services.empty()),
        services_(options.services) {
    if (!learns_) use_services();
  }

  void refresh(const View& view, std::vector<JobId>& changed) override {
    LevelOrder::refresh(view, changed);
    if (!learns_) return;
    // What was done before it took over teaches as much as what is done since.
    if (std::exchange(is_first_, false)) {
      for (const Job& job : view.jobs) learn(job);
    } else {
      for (const JobId id : view.ended) learn(view.job(id));
    }
    // Learning again each time the samples have doubled costs little and converges.
    if (services_.size() < 2 * learnt_from_ || services_.size() < kSamplesMin) return;
    use_services();
    for (std::size_t i = 0; i < view.jobs.size(); ++i) {
      const Job& job = view.jobs[i];
      const auto id = static_cast<JobId>(i);
      const bool waits = job.state == JobState::Pending || job.state == JobState::Paused;
      if (waits && knows(id)) changed.push_back(id);
    }
    std::ranges::sort(changed);
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  }

 private:
  void learn(const Job& job) {
    if (job.state == JobState::Done) services_.push_back(seconds(job.worked) * job.spec->gpus);
  }

  void use_services() {
    learnt_from_ = services_.size();
    std::ranges::sort(services_);
    std::vector<double> keys = {-index_at(0)};
    for (const Duration limit : options().limits) keys.push_back(-index_at(seconds(limit)));
    set_keys(std::move(keys));
  }

  // The chance that a job with this much service ends within the next delta, for each second of
  // service that delta is expected to take.
  double index_at(double service_s) const {
    const auto above = std::ranges::upper_bound(services_, service_s);
    const auto left = static_cast<double>(services_.end() - above);
    if (left == 0) return 0;
    const auto beyond = std::ranges::upper_bound(services_, service_s + delta_s_);
    double spent_s = delta_s_ * static_cast<double>(services_.end() - beyond);
    for (auto sample = above; sample != beyond; ++sample) spent_s += *sample - service_s;
    const auto ending = static_cast<double>(beyond - above);
    return spent_s > 0 ? ending / spent_s : 0;
  }

  const double delta_s_;
  const bool learns_;
  bool is_first_ = true;
  std::size_t learnt_from_ = 0;
  std::vector<double> services_;
};

}  // namespace

std::unique_ptr<Order> make_gittins(const GittinsOptions& options) {
  INVARIANT(options.delta > Duration::zero(), "service goes on in steps");
  return std::make_unique<Gittins>(options);
}

namespace {

constexpr std::array kGittinsOptions = {
    OptionInfo{"distribution",
               "file of past services in GPU seconds (CSV column `duration`); "
               "empty: learnt from the jobs that finish",
               "", kPathExample},
    OptionInfo{"delta", "how far ahead, in GPU time, a job's end counts as soon", "3250s",
               "60s 1h"},
    kPreempt, kSticky};

Line gittins_order(const Options& options, const PolicyContext& /*context*/,
                   CountedSpeed /*counted*/) {
  GittinsOptions gittins;
  TRY_ASSIGN(gittins.delta, options.duration("delta"));
  if (gittins.delta == Duration::zero()) return invalid("option delta=0: expected more than that");
  const std::string path = options.text("distribution");
  if (!path.empty()) {
    TRY_ASSIGN(gittins.services, read_services(path));
  }
  return make_gittins(gittins);
}

}  // namespace

const PolicyInfo kGittinsPolicy = {"gittins",
                                   "likeliest to end soon for the service it takes (Tiresias)",
                                   kGittinsOptions, served_in<gittins_order>, gittins_order};

}  // namespace orrery
