#include "scheduling/policy/deadline/ladder.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

bool is_power_of_two(int value) { return std::has_single_bit(static_cast<unsigned>(value)); }

// Long curves are thinned from the top, where neighbours differ least.
void thin_out(std::vector<Rung>& rungs) {
  const auto too_many = [&] { return std::ssize(rungs) > Ladder::kRungsMax; };
  for (std::size_t i = rungs.size(); i-- > 1 && too_many();) {
    if (i % 2 == 0 && !is_power_of_two(rungs[i].gpus)) {
      rungs.erase(rungs.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (too_many()) rungs.resize(Ladder::kRungsMax);
}

}  // namespace

Ladder::Ladder(std::span<const Rung> rungs) {
  std::vector<Rung> sorted(rungs.begin(), rungs.end());
  std::erase_if(sorted, [](const Rung& rung) { return rung.gpus <= 0 || !(rung.speed > 0); });
  std::ranges::sort(sorted, [](const Rung& a, const Rung& b) {
    return a.room != b.room ? a.room < b.room : a.gpus < b.gpus;
  });
  rungs_.push_back({});
  for (const Rung& rung : sorted) {
    if (rung.speed <= rungs_.back().speed) continue;
    if (rung.room == rungs_.back().room) rungs_.pop_back();
    rungs_.push_back(rung);
  }
  thin_out(rungs_);
  for (int limit = 1; limit < size(); ++limit) add_hull(limit);
  std::ranges::stable_sort(steps_, std::ranges::greater{}, &Step::slope);
  within_.assign(static_cast<std::size_t>((*this)[top()].room) + 1, 0);
  for (int rung = 1; rung < size(); ++rung) {
    std::fill(within_.begin() + (*this)[rung].room, within_.end(), static_cast<std::uint8_t>(rung));
  }
}

void Ladder::add_hull(int limit) {
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

int Ladder::rung_of(int gpus) const {
  for (int rung = 1; rung < size(); ++rung) {
    if ((*this)[rung].gpus == gpus) return rung;
  }
  return 0;
}

}  // namespace orrery
