#include <algorithm>

#include "training/sync/rules/rule.h"

namespace orrery {
namespace {

// After STAR (2025), dynamic-x-order. A child of the tree belongs to the group of its parent, since
// their gradients come as one.
class DynamicRule final : public SyncRule {
 public:
  explicit DynamicRule(std::vector<std::vector<WorkerId>> groups) : groups_(std::move(groups)) {}

  void regroup(const Membership& membership) override {
    assign(membership);
    size_.assign(group_count_, 0);
    here_.assign(group_count_, 0);
    for (const int seat : membership.seats()) {
      ++size_[group(seat)];
      here_[group(seat)] += membership[seat].state == MemberState::Waiting;
    }
    std::vector<Held> all = std::move(orphans_);
    for (const auto& pile : piles_) all.insert(all.end(), pile.begin(), pile.end());
    orphans_.clear();
    piles_.assign(group_count_, {});
    for (const Held& held : all) {
      (group_of(held.seat) < 0 ? orphans_ : piles_[group(held.seat)]).push_back(held);
    }
    look_at_.clear();
    for (std::size_t i = 0; i < group_count_; ++i) look_at_.push_back(i);
  }

  Fate came(const Arrival& arrival) override {
    for (const int seat : arrival.seats) {
      ++here_[group(seat)];
      look_at_.push_back(group(seat));
    }
    piles_[group(arrival.seats[0])].push_back({arrival.task, arrival.seats[0]});
    return Fate::Wait;
  }

  bool take(const Membership&, std::vector<Term>& terms) override {
    while (!look_at_.empty()) {
      const std::size_t i = look_at_.back();
      if (here_[i] < size_[i] || piles_[i].empty()) {
        look_at_.pop_back();
        continue;
      }
      move_pile(piles_[i], terms);
      move_pile(orphans_, terms);
      return true;
    }
    return false;
  }

  void drain(std::vector<Term>& terms) override {
    for (auto& pile : piles_) move_pile(pile, terms);
    move_pile(orphans_, terms);
  }
  bool holds_any() const override {
    return !orphans_.empty() ||
           std::ranges::any_of(piles_, [](auto& pile) { return !pile.empty(); });
  }
  void lose(std::int64_t task) override {
    const auto is_it = [task](const Held& held) { return held.task == task; };
    for (auto& pile : piles_) std::erase_if(pile, is_it);
    std::erase_if(orphans_, is_it);
  }
  void freed(int seat) override {
    if (group_of(seat) >= 0) --here_[group(seat)];
  }

 private:
  struct Held {
    std::int64_t task = 0;
    int seat = 0;
  };

  void assign(const Membership& membership) {
    group_of_.assign(static_cast<std::size_t>(membership.seats_ever()), -1);
    group_count_ = 0;
    for (const auto& group : groups_) {
      bool used = false;
      for (const WorkerId worker : group) {
        const int seat = membership.seat_of(worker);
        if (seat < 0 || group_of(seat) >= 0) continue;
        group_of_[static_cast<std::size_t>(seat)] = static_cast<int>(group_count_);
        used = true;
      }
      if (used) ++group_count_;
    }
    for (const int seat : membership.seats()) {
      if (group_of(seat) < 0)
        group_of_[static_cast<std::size_t>(seat)] = static_cast<int>(group_count_++);
    }
    for (const int seat : membership.seats()) {
      const int parent = membership[seat].parent;
      if (parent >= 0) group_of_[static_cast<std::size_t>(seat)] = group_of(parent);
    }
  }

  int group_of(int seat) const { return group_of_[static_cast<std::size_t>(seat)]; }
  std::size_t group(int seat) const { return static_cast<std::size_t>(group_of(seat)); }
  static void move_pile(std::vector<Held>& pile, std::vector<Term>& terms) {
    for (const Held& held : pile) hold(terms, held.task);
    pile.clear();
  }

  const std::vector<std::vector<WorkerId>> groups_;
  std::size_t group_count_ = 0;
  std::vector<int> group_of_{};             // by seat; -1: has left
  std::vector<int> size_{}, here_{};        // by group; here: those waiting
  std::vector<std::vector<Held>> piles_{};  // by group
  std::vector<Held> orphans_{};             // of workers that left: go with the next group
  std::vector<std::size_t> look_at_{};      // groups that may be complete
};

}  // namespace

std::unique_ptr<SyncRule> make_dynamic_rule(std::vector<std::vector<WorkerId>> groups) {
  return std::make_unique<DynamicRule>(std::move(groups));
}

}  // namespace orrery
