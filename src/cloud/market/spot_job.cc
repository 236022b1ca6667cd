#include "cloud/market/spot_job.h"

#include <fmt/format.h>

#include <cmath>

#include "cloud/market/spot_market.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr Duration kLongest = std::chrono::hours(24 * 365 * 10);

Status check_price(const char* which, double price) {
  if (price > 0 && price <= 1e6) return {};
  return invalid(
      fmt::format("an hour of {} costs {}; write a price above 0, at most 1000000", which, price));
}

}  // namespace

Status check_spot_job(const SpotJob& job) {
  if (job.work <= Duration{} || job.work > kLongest) {
    return invalid(
        fmt::format("the work is {}; write more than 0, such as 48h", duration_text(job.work)));
  }
  if (job.changeover < Duration{} || job.changeover > kLongest) {
    return invalid(fmt::format("the change-over is {}; write 0 or more, such as 6m",
                               duration_text(job.changeover)));
  }
  if (job.deadline > kLongest) {
    return invalid(
        fmt::format("the deadline is {}; write at most ten years", duration_text(job.deadline)));
  }
  TRY(check_price("on-demand", job.prices.on_demand));
  TRY(check_price("spot", job.prices.spot));
  if (job.deadline < job.earliest_end()) {
    return invalid(fmt::format(
        "the deadline {} cannot be kept even on demand; the earliest is {} (work {} after a "
        "change-over of {})",
        duration_text(job.deadline), duration_text(job.earliest_end()), duration_text(job.work),
        duration_text(job.changeover)));
  }
  return {};
}

Result<std::size_t> last_spot_start(const SpotMarket& market, const SpotJob& job) {
  const auto needed =
      static_cast<std::size_t>((job.deadline + market.tick() - Duration(1)) / market.tick());
  if (needed <= market.ticks()) return market.ticks() - needed;
  return invalid(
      fmt::format("the trace ends after {} ticks of {} s and the deadline {} takes {}; write a "
                  "shorter deadline "
                  "or use a longer trace",
                  market.ticks(), seconds(market.tick()), duration_text(job.deadline), needed));
}

Status check_spot_start(const SpotMarket& market, const SpotJob& job, std::size_t start) {
  TRY_ASSIGN(const std::size_t last, last_spot_start(market, job));
  if (start <= last) return {};
  return invalid(
      fmt::format("the trace ends before the deadline of a start at tick {}; the last possible "
                  "start is tick {}",
                  start, last));
}

}  // namespace orrery
