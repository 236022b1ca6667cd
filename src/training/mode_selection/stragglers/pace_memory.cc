#include "training/mode_selection/stragglers/pace_memory.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kWeight = 0.2;
constexpr double kHalfLife_s = 120;
constexpr double kLeast = 0.4;
constexpr double kMost = 1.25;

}  // namespace

void PaceMemory::add(const Mode& mode, double samples_per_s, double predicted_per_s,
                     double passed_s) {
  if (!(samples_per_s > 0) || !(predicted_per_s > 0) || !(passed_s > 0)) return;
  const double off = std::log(std::clamp(samples_per_s / predicted_per_s, kLeast, kMost));
  auto at =
      std::ranges::find_if(seen_, [&](const Seen& seen) { return same_family(seen.mode, mode); });
  if (at == seen_.end()) at = seen_.insert(seen_.end(), Seen{.mode = mode});
  const auto present = at - seen_.begin();
  for (std::ptrdiff_t i = 0; i < std::ssize(seen_); ++i) {
    if (i != present)
      seen_[static_cast<std::size_t>(i)].weight *= std::exp2(-passed_s / kHalfLife_s);
  }
  Seen& seen = seen_[static_cast<std::size_t>(present)];
  // The first look after a switch still covers a part of the mode before.
  if (seen.weight == 0) {
    seen.weight = 1e-6;
    return;
  }
  seen.weight += kWeight * (1 - seen.weight);
  seen.log_factor += kWeight * (off - seen.log_factor);
  std::erase_if(seen_, [&](const Seen& each) { return each.weight < 1e-9; });
}

const PaceMemory::Seen* PaceMemory::find(const Mode& mode) const {
  const auto at =
      std::ranges::find_if(seen_, [&](const Seen& seen) { return same_family(seen.mode, mode); });
  return at == seen_.end() ? nullptr : &*at;
}

double PaceMemory::factor(const Mode& mode, const Mode& present) const {
  const Seen* const now = find(present);
  const double usual = now ? now->weight * now->log_factor : 0;
  const Seen* const seen = find(mode);
  if (seen == nullptr || seen == now) return std::exp(usual);
  return std::exp(seen->weight * seen->log_factor + (1 - seen->weight) * usual);
}

void PaceMemory::correct(ScoredMode& scored, const Mode& present) const {
  const double real = factor(scored.mode, present);
  scored.pace.samples_per_s *= real;
  scored.pace.gradients_per_s *= real;
  scored.pace.interval_s /= real;
  scored.time_s /= real;
}

}  // namespace orrery
