#include "training/twin/quota_cpu.h"

#include <algorithm>
#include <utility>

#include "training/emulation/server_cgroup.h"

namespace orrery {
namespace {

// Between two looks at what a running process has used: 250 ticks a second, as Linux comes.
constexpr double kTick_s = 0.004;

struct Refill {
  double every_s = 0;
  double brings_s = 0;  // of work
};

Refill refill_of(double cores, double share) {
  const CpuQuota quota = cpu_quota(cores * share);
  return {static_cast<double>(quota.period_us) * 1e-6,
          static_cast<double>(quota.quota_us) * 1e-6 / cores};
}

}  // namespace

QuotaCpu::QuotaCpu(double cores, std::uint64_t seed) : cores_(cores), random_(seed) {
  // Servers' periods do not begin together.
  const Refill whole = refill_of(cores, 1);
  state_ = {.level_s = whole.brings_s, .refill_at_s = random_.uniform() * whole.every_s};
}

void QuotaCpu::rest_until(double time_s, const ShareLine& line, double share) {
  while (state_.refill_at_s <= time_s) {
    const Refill refill = refill_of(cores_, share * line.share_at(state_.refill_at_s));
    state_.level_s =
        std::min(state_.level_s + refill.brings_s, std::max(state_.level_s, refill.brings_s));
    state_.refill_at_s += refill.every_s;
  }
}

void QuotaCpu::wait_out(double& now_s, const ShareLine& line, double share) {
  while (state_.level_s <= 0) {
    now_s = std::max(now_s, state_.refill_at_s);
    rest_until(now_s, line, share);
  }
}

double QuotaCpu::work(double start_s, const Work& work, const ShareLine& line, double share) {
  before_ = state_;
  bursts_.clear();
  // At a core's speed.
  double now_s = start_s, sends = std::min(work.work_s, work.sends_s) * cores_;
  double left_s = work.work_s * cores_ - sends;
  rest_until(now_s, line, share);
  while (left_s > 0 || sends > 0) {
    if (left_s <= 0) left_s = std::exchange(sends, 0);
    wait_out(now_s, line, share);
    const double from_s = now_s;
    double tick_s = random_.uniform() * kTick_s;
    for (bool goes_on = true; goes_on; tick_s = kTick_s) {
      const double runs_s = std::min(left_s, tick_s);
      now_s += runs_s;
      left_s -= runs_s;
      rest_until(now_s, line, share);
      state_.level_s -= runs_s / cores_;
      goes_on = left_s > 0 && state_.level_s > 0;
    }
    bursts_.emplace_back(from_s, now_s);
  }
  return now_s;
}

double QuotaCpu::done_s(double now_s) const {
  double ran_s = 0;
  for (const auto& [from, to] : bursts_) ran_s += std::max(0.0, std::min(to, now_s) - from);
  return ran_s / cores_;
}

void QuotaCpu::stop(double now_s, const ShareLine& line, double share) {
  state_ = before_;
  for (auto& [from, to] : bursts_) {
    to = std::max(from, std::min(to, now_s));
    if (to <= from) continue;
    rest_until(to, line, share);
    state_.level_s -= (to - from) / cores_;
  }
  std::erase_if(bursts_, [](const auto& burst) { return burst.second <= burst.first; });
  rest_until(now_s, line, share);
}

void QuotaCpu::tire(double until_s, const ShareLine& line, double share) {
  rest_until(until_s, line, share);
  state_.level_s = std::min(state_.level_s, 0.0);
}

}  // namespace orrery
