#include "cloud/market/spot_optimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace orrery {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kLargestTable = std::size_t{1} << 27;  // values

// Time without progress is idle time or change-over. A plan that ends the work with `lost` time
// ends at work + lost, so the deadline allows deadline - work of it. `lost` is a multiple of the
// greatest common divisor of tick and change-over. The table holds the least cost for each machine
// and each lost time.
//
// Among the best plans there is one in which
// - a spot machine starts when its zone gains capacity, or when another spot machine is lost, since
//   a later start can be exchanged for a later end of the same machine or of the one before;
// - a spot machine is held until it is lost or the work ends, since its time is the cheapest;
// - idle time comes before time on demand between two spot machines.
// So only a change of capacity moves values between spot machines, and a tick costs one pass, from
// idle to on demand. A change-over is counted at its start. A plan that loses a machine before it
// works is then counted too high, and the same plan without that machine is better.
class Optimum {
 public:
  Optimum(const SpotMarket& market, const SpotJob& job, std::size_t start)
      : market_(market), job_(job), start_(start) {
    const auto tick = market.tick().count();
    unit_ = std::gcd(tick, job.changeover.count());
    tick_units_ = static_cast<std::size_t>(tick / unit_);
    changeover_units_ = static_cast<std::size_t>(job.changeover.count() / unit_);
    size_ = static_cast<std::size_t>((job.deadline - job.work).count() / unit_) + 1;
    ticks_ = static_cast<std::size_t>((job.deadline.count() + tick - 1) / tick);
  }

  bool fits() const {
    return size_ * (static_cast<std::size_t>(market_.zones()) + 2) + ticks_ * tick_units_ <
           kLargestTable;
  }

  double solve() {
    const bool spot_is_cheaper = job_.prices.spot < job_.prices.on_demand;
    idle_.assign(size_ + ticks_ * tick_units_, kNone);
    on_demand_.assign(size_, kNone);
    spot_.assign(static_cast<std::size_t>(market_.zones()), std::vector<double>(size_, kNone));
    *idle_at(0, 0) = 0;
    ZoneSet before;
    for (std::size_t tick = 0; tick < ticks_; ++tick) {
      first_ = first_unfinished(tick);
      if (first_ >= size_) break;
      const ZoneSet now = spot_is_cheaper ? market_.zones_with_capacity(start_ + tick) : ZoneSet{};
      if (!(now == before)) change_zones(tick, before, now);
      before = now;
      const double hours = hours_at(tick);
      start_machines(idle_at(tick, 0), 0, on_demand_, job_.prices.on_demand, hours);
      finish(on_demand_, job_.prices.on_demand, tick);
      for (int zone = 0; zone < market_.zones(); ++zone) {
        if (now.has(zone)) finish(spot_[static_cast<std::size_t>(zone)], job_.prices.spot, tick);
      }
    }
    return best_;
  }

 private:
  double hours_at(std::size_t tick) const {
    return seconds(market_.tick()) * static_cast<double>(tick) / 3600;
  }
  // Values of a held machine are the cost less the price of all time until now, so that they stay
  // the same while it is held. Idle values move with time instead: an idle tick loses a tick.
  double* idle_at(std::size_t tick, std::size_t lost) {
    return idle_.data() + (ticks_ - tick) * tick_units_ + lost;
  }
  // The least lost time with which work is left at the begin of a tick.
  std::size_t first_unfinished(std::size_t tick) const {
    const std::int64_t over =
        market_.tick().count() * static_cast<std::int64_t>(tick) - job_.work.count();
    return over < 0 ? 0 : static_cast<std::size_t>(over / unit_) + 1;
  }

  // Starts a machine in each state of `from`, whose values have a price of `price_before` in them.
  void start_machines(const double* from, double price_before, std::vector<double>& to,
                      double price, double hours) const {
    const double step = (price_before - price) * hours;
    if (first_ + changeover_units_ >= size_) return;
    const std::size_t count = size_ - changeover_units_;
    double* const out = to.data() + changeover_units_;
    for (std::size_t i = first_; i < count; ++i) {
      const double value = from[i] + step;
      out[i] = value < out[i] ? value : out[i];
    }
  }

  void change_zones(std::size_t tick, ZoneSet before, ZoneSet now) {
    const double hours = hours_at(tick);
    const double spot = job_.prices.spot;
    for (int zone = 0; zone < market_.zones(); ++zone) {
      if (!before.has(zone) || now.has(zone)) continue;
      std::vector<double>& lost = spot_[static_cast<std::size_t>(zone)];
      double* const idle = idle_at(tick, 0);
      for (std::size_t i = first_; i < size_; ++i) {
        idle[i] = std::min(idle[i], lost[i] + spot * hours);
      }
      for (int other = 0; other < market_.zones(); ++other) {
        if (now.has(other)) {
          start_machines(lost.data(), spot, spot_[static_cast<std::size_t>(other)], spot, hours);
        }
      }
      std::ranges::fill(lost, kNone);
    }
    for (int zone = 0; zone < market_.zones(); ++zone) {
      if (before.has(zone) || !now.has(zone)) continue;
      std::vector<double>& gained = spot_[static_cast<std::size_t>(zone)];
      start_machines(idle_at(tick, 0), 0, gained, spot, hours);
      start_machines(on_demand_.data(), job_.prices.on_demand, gained, spot, hours);
    }
  }

  // Takes the states of a held machine whose work ends in this tick.
  void finish(const std::vector<double>& held, double price, std::size_t tick) {
    const std::size_t end = std::min(size_, first_unfinished(tick + 1));
    for (std::size_t i = first_; i < end; ++i) {
      const double hours =
          seconds(job_.work + Duration(unit_ * static_cast<std::int64_t>(i))) / 3600;
      best_ = std::min(best_, held[i] + price * hours);
    }
  }

  const SpotMarket& market_;
  const SpotJob& job_;
  std::size_t start_;
  std::int64_t unit_ = 1;
  std::size_t tick_units_ = 0;
  std::size_t changeover_units_ = 0;
  std::size_t size_ = 0;
  std::size_t ticks_ = 0;
  std::size_t first_ = 0;  // of the states of this tick
  std::vector<double> idle_{};
  std::vector<double> on_demand_{};
  std::vector<std::vector<double>> spot_{};
  double best_ = kNone;
};

}  // namespace

Result<double> optimal_spot_cost(const SpotMarket& market, const SpotJob& job, std::size_t start) {
  Optimum optimum(market, job, start);
  if (!optimum.fits()) {
    return invalid(fmt::format(
        "the optimum of a tick of {} s and a change-over of {} s needs too much memory; "
        "write a change-over with a larger common divisor",
        seconds(market.tick()), seconds(job.changeover)));
  }
  return optimum.solve();
}

}  // namespace orrery
