#include <algorithm>

#include "sync/rule.h"

namespace orrery {
namespace {

// After STAR (2025), ring with children: the ring waits for its own and never for a child, whose
// gradient goes with the next update after it came.
class RingRule final : public SyncRule {
 public:
  void regroup(const Crowd& crowd) override {
    in_ring_.assign(static_cast<std::size_t>(crowd.seats_ever()), false);
    size_ = here_ = 0;
    for (const int seat : crowd.seats()) {
      if (crowd[seat].parent >= 0) continue;
      in_ring_[static_cast<std::size_t>(seat)] = true;
      ++size_;
      here_ += crowd[seat].state == MemberState::Waiting;
    }
  }
  Fate came(const Arrival& arrival) override {
    hold(held_, arrival.task);
    for (const int seat : arrival.seats) here_ += in_ring_[static_cast<std::size_t>(seat)];
    return Fate::Wait;
  }
  bool take(const Crowd&, std::vector<Term>& terms) override {
    if (held_.empty() || size_ == 0 || here_ < size_) return false;
    move_all(held_, terms);
    return true;
  }
  void drain(std::vector<Term>& terms) override { move_all(held_, terms); }
  bool holds_any() const override { return !held_.empty(); }
  void lose(std::int64_t task) override { lose_from(held_, task); }
  void freed(int seat) override { here_ -= in_ring_[static_cast<std::size_t>(seat)]; }

 private:
  std::vector<bool> in_ring_{};  // by seat
  int size_ = 0, here_ = 0;      // of the ring; here: those waiting
  std::vector<Term> held_{};
};

}  // namespace

std::unique_ptr<SyncRule> make_ring_rule() { return std::make_unique<RingRule>(); }

}  // namespace orrery
