#pragma once

#include "training/mode_selection/scoring/score.h"
#include "training/mode_selection/stragglers/iteration_book.h"

namespace orrery {

// What all-reduce takes beside tasks, learned from the run.
class RingCosts {
 public:
  // What of a sample's time is its worker's own task. The rest is waiting for its parent, or what
  // it does for its children; both depend on the members of the ring, and are scored apart. Waiting
  // is neither computing nor being throttled. What is done for children is what a worker computes
  // more than those without, but hardly more than most parents do for theirs: the rest is its own
  // slowness. Where use is not known, or a link may be what is waited for, a child's waiting is
  // estimated. What is left never is next to nothing. The first task of a member ends when it has
  // met the others, one after the other, so only its use shows what it took itself; where that is
  // not known, nothing is left of it.
  IterationSample own_part(IterationSample sample, const Mode& mode, const IterationBook& book);

  void add_sum(Duration took);
  void formed() { sums_ = 0; }  // another ring
  bool has_sums() const { return sums_ > 0; }
  bool knows_sums() const { return sums_ >= kSumsLeast; }

  // What a message of a sum takes beside its bytes with a member of usual speed, by the sums of the
  // present ring; until it has had more than those before, or enough, by those. The first two take
  // longer than others, and the shorter of them is better than nothing.
  double message_s(const SumMembers& present);

 private:
  IterationSample without_meeting(IterationSample sample) const;
  double served(double more_s, double children);

  static constexpr int kSumsIgnored = 2;  // members have only just met
  static constexpr int kSumsLeast = 5;

  double sum_s_ = 0;         // of the present ring, smoothed
  double message_s_ = 0;     // newest
  double sample_cpu_s_ = 0;  // of those without children
  double serve_cpu_s_ = 0;   // of a parent, a child: the middle one, followed in small steps
  int sums_ = 0;             // of the present ring
  int message_sums_ = 0;     // that message_s_ stands on
};

}  // namespace orrery
