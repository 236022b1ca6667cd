#include "scheduling/prediction/scaling_curve.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

bool is_power_of_two(int value) { return std::has_single_bit(static_cast<unsigned>(value)); }

// Long curves are thinned from the top, where neighbours differ least.
void thin_out(std::vector<GpuOption>& options) {
  const auto too_many = [&] { return std::ssize(options) > ScalingCurve::kOptionsMax; };
  for (std::size_t i = options.size(); i-- > 1 && too_many();) {
    if (i % 2 == 0 && !is_power_of_two(options[i].gpus)) {
      options.erase(options.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (too_many()) options.resize(ScalingCurve::kOptionsMax);
}

}  // namespace

ScalingCurve::ScalingCurve(std::span<const GpuOption> options) {
  std::vector<GpuOption> sorted(options.begin(), options.end());
  std::erase_if(sorted,
                [](const GpuOption& option) { return option.gpus <= 0 || !(option.speed > 0); });
  std::ranges::sort(sorted, [](const GpuOption& a, const GpuOption& b) {
    return a.capacity != b.capacity ? a.capacity < b.capacity : a.gpus < b.gpus;
  });
  options_.push_back({});
  for (const GpuOption& option : sorted) {
    if (option.speed <= options_.back().speed) continue;
    if (option.capacity == options_.back().capacity) options_.pop_back();
    options_.push_back(option);
  }
  thin_out(options_);
  for (int limit = 1; limit < size(); ++limit) add_hull(limit);
  std::ranges::stable_sort(steps_, std::ranges::greater{}, &Step::slope);
  within_.assign(static_cast<std::size_t>((*this)[top()].capacity) + 1, 0);
  for (int option = 1; option < size(); ++option) {
    std::fill(within_.begin() + (*this)[option].capacity, within_.end(),
              static_cast<std::uint8_t>(option));
  }
}

void ScalingCurve::add_hull(int limit) {
  for (int from = 0; from < limit;) {
    int best = from + 1;
    for (int to = from + 2; to <= limit; ++to) {
      if (slope(from, to) >= slope(from, best)) best = to;
    }
    const auto same = std::ranges::find_if(
        steps_, [&](const Step& step) { return step.from == from && step.to == best; });
    const std::uint64_t bit = 1ULL << limit;
    if (same != steps_.end()) {
      same->limits |= bit;
    } else {
      steps_.push_back({from, best, slope(from, best), bit});
    }
    from = best;
  }
}

int ScalingCurve::option_of(int gpus) const {
  for (int option = 1; option < size(); ++option) {
    if ((*this)[option].gpus == gpus) return option;
  }
  return 0;
}

}  // namespace orrery
