#include <algorithm>
#include <vector>

#include "cloud/market/deadline_guard.h"
#include "cloud/market/spot_policies.h"

namespace orrery {
namespace {

// What was seen of one zone: how long it had capacity and how often it lost it.
struct ZoneRecord {
  double up_h = 0;
  double seen_h = 0;
  double age_h = 0;  // of the capacity that there is now
  int losses = 0;
};

// After SkyNomad (2601.06520) and its names: every choice is priced in money an hour. V is the
// value of an hour of progress, the price of a plan for the work left with a premium; L is the
// expected lifetime of a spot machine, at most two hours; d is the change-over.
// - spot in a zone is worth (V (L - d) - price L) / L, on demand V - price, idle nothing;
// - the share of on demand in V is the time between the point where recent progress would reach the
//   line of no return and the deadline.
// Departures: a zone shows its capacity in every tick, so nothing is paid for probes. Prices are
// equal and a checkpoint moves within the change-over, so a migration costs the change-over. The
// lifetime is up-time per loss instead of a survival curve.
class SkyNomad final : public SpotPolicy {
 public:
  explicit SkyNomad(const SpotPlan& plan)
      : job_(plan.job),
        tick_(plan.tick),
        guard_(plan.job, plan.tick),
        zones_(static_cast<std::size_t>(plan.zones)) {}

  MachineChoice decide(const SpotView& view) override {
    record(view);
    const double value = value_of_progress(view);
    MachineChoice best = kNoMachine;
    double most = 0;
    const auto weigh = [&](MachineChoice machine, double worth) {
      if (worth > most && guard_.keeps_deadline(view, machine)) most = worth, best = machine;
    };
    if (view.held.kind == MachineKind::Spot) weigh(view.held, spot_worth(view, view.held, value));
    weigh(kOnDemand, on_demand_worth(view, value));
    for (int zone = 0; zone < static_cast<int>(zones_.size()); ++zone) {
      if (view.zones.has(zone)) weigh(spot_in(zone), spot_worth(view, spot_in(zone), value));
    }
    return guard_.first_safe(view, {best});
  }

 private:
  static constexpr double kPremium = 1.2;
  static constexpr double kLongestLife_h = 2;
  static constexpr double kWindow_h = 10;

  static double hours(Duration duration) { return seconds(duration) / 3600; }

  void record(const SpotView& view) {
    const double tick_h = hours(tick_);
    for (std::size_t zone = 0; zone < zones_.size(); ++zone) {
      ZoneRecord& seen = zones_[zone];
      const bool up = view.zones.has(static_cast<int>(zone));
      seen.losses += seen.age_h > 0 && !up ? 1 : 0;
      seen.age_h = up ? seen.age_h + tick_h : 0;
      seen.up_h += up ? tick_h : 0;
      seen.seen_h += tick_h;
    }
    done_h_.push_back(hours(job_.work - view.work_left));
  }

  double life_h(std::size_t zone) const {
    const ZoneRecord& seen = zones_[zone];
    if (seen.losses == 0) return kLongestLife_h;
    return std::min(kLongestLife_h, seen.up_h / seen.losses);
  }

  // The progress of an hour, in the last hours.
  double recent_rate() const {
    const auto window = static_cast<std::size_t>(kWindow_h / hours(tick_));
    const std::size_t first = done_h_.size() > window ? done_h_.size() - window - 1 : 0;
    const double time_h = hours(tick_) * static_cast<double>(done_h_.size() - 1 - first);
    return time_h > 0 ? (done_h_.back() - done_h_[first]) / time_h : 0;
  }

  double on_demand_share(const SpotView& view) const {
    const double t = hours(view.elapsed);
    const double deadline = hours(job_.deadline);
    const double rate = recent_rate();
    if (t <= 0 || rate > 1 - 1e-6) return 0;
    const double progress = hours(job_.work - view.work_left);
    const double reserve = 2 * hours(job_.changeover);
    const double crossing =
        (rate * t - progress + hours(job_.work) + reserve - deadline) / (rate - 1);
    if (crossing >= deadline) return 0;
    if (crossing <= 0) return 1;
    return std::clamp((deadline - crossing) / (deadline - t), 0.0, 1.0);
  }

  double value_of_progress(const SpotView& view) const {
    const double work = hours(view.work_left);
    const double changeover = hours(job_.changeover);
    double on_demand = work * on_demand_share(view);
    double to_do = work - on_demand;
    double cost = 0;
    std::vector<std::size_t> order(zones_.size());
    for (std::size_t zone = 0; zone < order.size(); ++zone) order[zone] = zone;
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t zone) { return life_h(zone); });
    for (const std::size_t zone : order) {
      const double life = life_h(zone);
      if (life <= changeover) break;
      const double share = zones_[zone].up_h / zones_[zone].seen_h;
      const double part =
          std::min(to_do, share * hours(job_.deadline - view.elapsed) * (life - changeover) / life);
      cost += part * job_.prices.spot * life / (life - changeover);
      to_do -= part;
    }
    on_demand += to_do;
    return kPremium * (cost + on_demand * job_.prices.on_demand) / work;
  }

  double spot_worth(const SpotView& view, MachineChoice machine, double value) const {
    const double life = life_h(static_cast<std::size_t>(machine.zone));
    const double cold = hours(machine == view.held ? view.changeover_left : job_.changeover);
    return (value * std::max(0.0, life - cold) - job_.prices.spot * life) / life;
  }
  double on_demand_worth(const SpotView& view, double value) const {
    const double left = hours(view.work_left);
    const double cold = hours(view.held == kOnDemand ? view.changeover_left : job_.changeover);
    return value * left / (left + cold) - job_.prices.on_demand;
  }

  SpotJob job_;
  Duration tick_;
  DeadlineGuard guard_;
  std::vector<ZoneRecord> zones_;
  std::vector<double> done_h_{};
};

}  // namespace

const SpotPolicyInfo kSkyNomadSpotPolicy = {
    "skynomad", "the choice of most value, by expected lifetimes and change-over (2601.06520)",
    [](const SpotPlan& plan) -> std::unique_ptr<SpotPolicy> {
      return std::make_unique<SkyNomad>(plan);
    }};

}  // namespace orrery
