#include "training/mode_selection/scoring/ring_costs.h"

#include <algorithm>

#include "training/sync/ring_sum.h"

namespace orrery {
namespace {

constexpr double kSumWeight = 0.1, kCpuWeight = 0.05;
constexpr double kOwnLeast = 0.25;
constexpr double kServeStep = 1.02, kServeMost = 1.5;

}  // namespace

IterationSample RingCosts::own_part(IterationSample sample, const Mode& mode,
                                    const IterationBook& book) {
  using Pair = std::pair<WorkerId, WorkerId>;
  const auto pair = std::ranges::find(mode.parents, sample.worker, &Pair::first);
  const bool is_child = pair != mode.parents.end();
  // Tasks are reported after the sum that they went into.
  if (sums_ <= 1 && !is_child) sample = without_meeting(sample);
  const double took_s = seconds(sample.took);
  if (!(took_s > 0) || sample.samples < 1) return sample;
  Usage& use = sample.usage;
  const double cpu_s = use.cpu_share * took_s / sample.samples;
  const auto children = std::ranges::count(mode.parents, sample.worker, &Pair::second);
  if (children > 0) {
    const double more_s = (cpu_s - sample_cpu_s_) * sample.samples;
    if (sample_cpu_s_ > 0 && more_s > 0) {
      const double served_s = served(more_s, static_cast<double>(children));
      sample.took =
          from_seconds(took_s * std::max(kOwnLeast, 1 - served_s / (cpu_s * sample.samples)));
    }
    return sample;
  }
  if (cpu_s > 0) {
    sample_cpu_s_ += (sample_cpu_s_ == 0 ? 1 : kCpuWeight) * (cpu_s - sample_cpu_s_);
  }
  if (!is_child) return sample;
  const WorkerRecord* const above = book.find(pair->second);
  const WorkerRecord* const below = book.find(sample.worker);
  if (above == nullptr || below == nullptr) return sample;
  const bool link_known = below->way_s > 0;
  double own = use.cpu_share + use.throttled_share;
  if (own == 0 || !link_known) {
    const double task_s = above->cost.at(above->history.samples.back().samples);
    own = 1 - child_wait_s(std::max(above->way_s, below->way_s), task_s, message_s_) / took_s;
  }
  own = std::clamp(own, kOwnLeast, 1.0);
  sample.took = from_seconds(own * took_s);
  use.cpu_share /= own;
  use.throttled_share /= own;
  return sample;
}

IterationSample RingCosts::without_meeting(IterationSample sample) const {
  Usage& use = sample.usage;
  const double own = std::min(1.0, use.cpu_share + use.throttled_share);
  sample.took = from_seconds(own * seconds(sample.took));
  if (own > 0) {
    use.cpu_share /= own;
    use.throttled_share /= own;
  }
  return sample;
}

double RingCosts::served(double more_s, double children) {
  const double each_s = more_s / children;
  if (serve_cpu_s_ == 0) serve_cpu_s_ = each_s;
  serve_cpu_s_ *= each_s > serve_cpu_s_ ? kServeStep : 1 / kServeStep;
  return std::min(more_s, kServeMost * serve_cpu_s_ * children);
}

void RingCosts::add_sum(Duration took) {
  const double took_s = seconds(took);
  if (++sums_ <= kSumsIgnored) {
    sum_s_ = sums_ == 1 ? took_s : std::min(sum_s_, took_s);
    return;
  }
  const double weight = std::max(kSumWeight, 1.0 / (sums_ - kSumsIgnored));
  sum_s_ += weight * (took_s - sum_s_);
}

double RingCosts::message_s(const SumMembers& present) {
  const bool stands_on_more = sums_ > message_sums_ || knows_sums();
  if (present.members > 1 && stands_on_more) {
    const double bytes_s = ring_sum_s(present.members, present.slowest_way_s, 0);
    message_s_ =
        std::max(0.0, sum_s_ - bytes_s) / (messages_of_sum(present.members) * present.slowness);
    message_sums_ = sums_;
  }
  return message_s_;
}

}  // namespace orrery
