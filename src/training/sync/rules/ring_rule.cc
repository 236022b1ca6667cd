#include <algorithm>

#include "training/sync/rules/rule.h"

namespace orrery {
namespace {

// After STAR (2025), ring with children: the ring waits for its own and never for a child, whose
// gradient goes with the next update after it came. Nor does a child wait for that: it goes on with
// the parameters that there are, unless its parent would keep more and more gradients for it.
class RingRule final : public SyncRule {
 public:
  void regroup(const Membership& membership) override {
    in_ring_.assign(static_cast<std::size_t>(membership.seats_ever()), false);
    kept_.resize(in_ring_.size(), 0);
    size_ = here_ = 0;
    for (const int seat : membership.seats()) {
      if (membership[seat].parent >= 0) continue;
      in_ring_[static_cast<std::size_t>(seat)] = true;
      ++size_;
      here_ += membership[seat].state == MemberState::Waiting;
    }
  }
  Fate came(const Arrival& arrival) override {
    const auto seat = static_cast<std::size_t>(arrival.seats.front());
    hold(held_, arrival.task);
    whose_.push_back(seat);
    ++kept_[seat];
    if (!in_ring_[seat] && kept_[seat] < kKeptOfAChild) return Fate::GoOn;
    for (const int one : arrival.seats) here_ += in_ring_[static_cast<std::size_t>(one)];
    return Fate::Wait;
  }
  bool take(const Membership&, std::vector<Term>& terms) override {
    if (held_.empty() || size_ == 0 || here_ < size_) return false;
    drain(terms);
    return true;
  }
  void drain(std::vector<Term>& terms) override {
    move_all(held_, terms);
    for (const std::size_t seat : whose_) kept_[seat] = 0;
    whose_.clear();
  }
  bool holds_any() const override { return !held_.empty(); }
  void lose(std::int64_t task) override {
    const auto at = std::ranges::find(held_, task, &Term::task);
    if (at == held_.end()) return;
    const auto whose = whose_.begin() + (at - held_.begin());
    --kept_[*whose];
    whose_.erase(whose);
    held_.erase(at);
  }
  void freed(int seat) override { here_ -= in_ring_[static_cast<std::size_t>(seat)]; }

 private:
  std::vector<bool> in_ring_{};  // by seat
  int size_ = 0, here_ = 0;      // of the ring; here: those waiting
  std::vector<Term> held_{};
  std::vector<std::size_t> whose_{};  // beside held_: seats
  std::vector<int> kept_{};           // by seat, how many of held_
};

}  // namespace

std::unique_ptr<SyncRule> make_ring_rule() { return std::make_unique<RingRule>(); }

}  // namespace orrery
