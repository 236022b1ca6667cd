#include <algorithm>

#include "scheduling/policy/sharing/divider.h"

namespace orrery {
namespace {

// Speed now, and what one more GPU of the next option adds to it.
struct Growth {
  double speed = 0;
  double with_next = 0;
  double for_each_gpu = 0;
};

Growth growth_of(const Sharer& one) {
  const double speed = one.curve[one.option].speed;
  const double with_next = one.curve[one.option + 1].speed;
  return {speed, with_next, (with_next - speed) / one.gpus_to_grow()};
}

// True if the longer of two jobs uses one more GPU so much better that the shorter does without,
// although it would leave all it holds to the other the sooner.
//
// Let a be the shorter one, with w iterations to go. While it runs, b does p_b/p_a iterations for
// each of them; a GPU more for a ends that time earlier for both, a GPU more for b makes b do more
// in it. What b does afterwards is the same. With speeds p and, with one more GPU, p', the sum of
// both ends is smaller with the GPU at b if
//
//   2 w (1/p_a - 1/p_a') < (w / p_b') (p_b'/p_a - p_b/p_a')
//
// where b's time is counted at p_b'. That is (p_b' - p_b) / p_b' > (p_a' - p_a) / p_a.
bool longer_is_better(const Sharer& shorter, const Sharer& longer) {
  const Growth a = growth_of(shorter);
  const Growth b = growth_of(longer);
  return b.for_each_gpu * a.speed > a.for_each_gpu * b.with_next;
}

// After AFS-L (NSDI '21): each option goes to the winner of pairwise comparisons.
class Afs final : public ShareRule {
 public:
  void divide(std::span<Sharer> sharers, int gpus) override {
    open_.clear();
    for (Sharer& one : sharers) open_.push_back(&one);
    while (gpus > 0) {
      std::erase_if(open_, [&](const Sharer* one) {
        return !one->can_grow() || one->gpus_to_grow() > gpus || !one->growth_repays_start();
      });
      if (open_.empty()) return;
      Sharer* best = open_.front();
      for (Sharer* other : open_) {
        if (other != best && prefers(*other, *best)) best = other;
      }
      gpus -= best->gpus_to_grow();
      ++best->option;
    }
  }

 private:
  static double length_s(const Sharer& one) { return one.remaining_s(std::max(one.option, 1)); }

  // True if `one` should have its next option rather than `best`, which came before it.
  static bool prefers(const Sharer& one, const Sharer& best) {
    if (one.option == 0 && best.option == 0) {
      return length_s(one) * one.curve[1].gpus < length_s(best) * best.curve[1].gpus;
    }
    if (length_s(one) < length_s(best)) return !longer_is_better(one, best);
    return longer_is_better(best, one);
  }

  std::vector<Sharer*> open_;
};

}  // namespace

std::unique_ptr<ShareRule> make_afs() { return std::make_unique<Afs>(); }

}  // namespace orrery
