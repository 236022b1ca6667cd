#include "scheduling/prediction/interleave.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr int kRoundsMuri = 2;
constexpr int kRoundsOther = 16;
constexpr double kSteady = 1e-3;
constexpr std::size_t kMembersExact = 6;

bool is_muri_shape(const StageProfile& profile) {
  static constexpr std::array<int, 3> kShape{2, 1, 1};
  return std::ranges::equal(profile.slots, kShape);
}

bool close(double a, double b) {
  return std::abs(a - b) <= kSteady * std::max(std::abs(a), std::abs(b));
}

const StageProfile& first_of(std::span<const StageProfile* const> members) {
  const auto first = std::ranges::find_if(members, [](auto* member) { return member != nullptr; });
  INVARIANT(first != members.end(), "a group has members");
  return **first;
}

class Cycle {
 public:
  explicit Cycle(std::span<const StageProfile* const> members)
      : members_(members),
        slots_(first_of(members).slots),
        period_(slots_in_cycle(first_of(members))),
        muri_(is_muri_shape(first_of(members))),
        single_(std::ranges::all_of(slots_, [](int n) { return n == 1; })),
        stage_ending_(static_cast<std::size_t>(period_), -1) {
    for (int stage = 0, end = -1; stage < std::ssize(slots_); ++stage) {
      end += slots_[static_cast<std::size_t>(stage)];
      stage_ending_[static_cast<std::size_t>(end)] = stage;
    }
    const int rounds = muri_ ? kRoundsMuri : kRoundsOther;
    end_.resize(static_cast<std::size_t>(rounds * period_ + 1));
  }

  bool muri() const { return muri_; }

  // order[p] is the member at position p.
  double seconds(std::span<const int> order) {
    return single_ ? sum_of_longest(order) : run(order);
  }

 private:
  double sum_of_longest(std::span<const int> order) const {
    double total = 0;
    for (int slot = 0; slot < period_; ++slot) {
      double longest = 0;
      for (int p = 0; p < std::ssize(order); ++p) {
        longest = std::max(longest, stage_s(order, p, (slot - p + period_) % period_));
      }
      total += longest;
    }
    return total;
  }

  double run(std::span<const int> order) {
    const int slots = static_cast<int>(std::ssize(end_)) - 1;
    const int steady_wanted = muri_ ? 1 : period_;
    int steady = 0;
    end_[0] = 0;
    for (int i = 0; i < slots; ++i) {
      end_at(i + 1) = end_of_slot(order, i);
      if (i < period_) continue;
      const double cycle = end_at(i + 1) - end_at(i + 1 - period_);
      steady = close(cycle, end_at(i) - end_at(i - period_)) ? steady + 1 : 0;
      if (steady == steady_wanted && cycle > 0) return cycle;
    }
    return end_at(slots) - end_at(slots - period_);
  }

  double end_of_slot(std::span<const int> order, int slot) {
    // In Muri's recurrence a slot in which only the two-slot stage ends may end before the slot
    // ahead of it; its published numbers depend on that. Other shapes get a true barrier, without
    // which stages that all span several slots would not wait for each other at all.
    double end = muri_ ? 0 : end_at(slot);
    for (int p = 0; p < std::ssize(order); ++p) {
      const int stage =
          stage_ending_[static_cast<std::size_t>((slot - p % period_ + period_) % period_)];
      if (stage < 0) continue;
      const int begin = slot + 1 - slots_[static_cast<std::size_t>(stage)];
      if (begin >= 0 && is_taken(order, p))
        end = std::max(end, end_at(begin) + stage_s(order, p, stage));
    }
    return end;
  }

  double stage_s(std::span<const int> order, int position, int stage) const {
    if (!is_taken(order, position)) return 0;
    return member_at(order, position)->stage_s[static_cast<std::size_t>(stage)];
  }
  bool is_taken(std::span<const int> order, int position) const {
    return member_at(order, position) != nullptr;
  }
  const StageProfile* member_at(std::span<const int> order, int position) const {
    return members_[static_cast<std::size_t>(order[static_cast<std::size_t>(position)])];
  }

  double& end_at(int slot) { return end_[static_cast<std::size_t>(slot)]; }

  std::span<const StageProfile* const> members_;
  const std::vector<int>& slots_;  // of every member
  int period_;
  bool muri_;
  bool single_;                    // every stage takes one slot
  std::vector<int> stage_ending_;  // by slot of a job's own iteration; -1: none ends there
  std::vector<double> end_;        // of slot i - 1, at index i
};

// Keeps the first of the best. With Worst, the longest cycle is the best one.
struct Choice {
  bool longest;
  double cycle_s;
  std::vector<int> order;

  bool offer(double seconds, std::span<const int> candidate) {
    if (longest ? seconds <= cycle_s : seconds >= cycle_s) return false;
    cycle_s = seconds;
    order.assign(candidate.begin(), candidate.end());
    return true;
  }
};

void try_all(Cycle& cycle, std::vector<int> order, Choice& choice) {
  while (std::ranges::next_permutation(order).found) choice.offer(cycle.seconds(order), order);
}

void descend(Cycle& cycle, Choice& choice) {
  bool better = true;
  while (better) {
    better = false;
    std::vector<int> order = choice.order;
    for (std::size_t a = 0; a + 1 < order.size(); ++a) {
      for (std::size_t b = a + 1; b < order.size(); ++b) {
        std::swap(order[a], order[b]);
        better = choice.offer(cycle.seconds(order), order) || better;
        std::swap(order[a], order[b]);
      }
    }
  }
}

// Position 1 stays idle: each job's data stage runs beside the other's GPU and network stages.
double opposite_s(const StageProfile& a, const StageProfile& b) {
  return std::max(a.stage_s[0], b.stage_s[1] + b.stage_s[2]) +
         std::max(b.stage_s[0], a.stage_s[1] + a.stage_s[2]);
}

}  // namespace

int slots_in_cycle(const StageProfile& profile) {
  return std::accumulate(profile.slots.begin(), profile.slots.end(), 0);
}

Interleaving interleave(std::span<const StageProfile* const> members, Ordering ordering) {
  const StageProfile& first = first_of(members);
  for (const StageProfile* member : members) {
    INVARIANT(member != nullptr || ordering == Ordering::AsGiven,
              "only given positions can be idle");
    if (member == nullptr) continue;
    INVARIANT(member->slots == first.slots, "members of a group take the same slots");
    INVARIANT(member->stage_s.size() == member->slots.size(), "each stage has its slots");
  }
  INVARIANT(std::ssize(members) <= slots_in_cycle(first), "one position for each member");

  Cycle cycle(members);
  std::vector<int> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  Choice choice{ordering == Ordering::Worst, cycle.seconds(order), order};
  if (ordering != Ordering::AsGiven) {
    if (members.size() <= kMembersExact) {
      try_all(cycle, order, choice);
    } else {
      descend(cycle, choice);
    }
  }

  Interleaving result{.cycle_s = 0, .positions = std::vector<int>(members.size())};
  if (members.size() == 2 && cycle.muri() && ordering != Ordering::AsGiven &&
      choice.offer(opposite_s(*members[0], *members[1]), order)) {
    result.positions = {0, 2};
  } else {
    for (std::size_t p = 0; p < members.size(); ++p) {
      result.positions[static_cast<std::size_t>(choice.order[p])] = static_cast<int>(p);
    }
  }
  result.cycle_s = choice.cycle_s;
  return result;
}

}  // namespace orrery
