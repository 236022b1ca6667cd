#include <algorithm>

#include "training/sync/rules/rule.h"

namespace orrery {
namespace {

// After STAR (2025), static-x-order. A gradient of a worker that left meanwhile goes into the
// update but does not count to x, so that with x = N all workers that are still there are waited
// for.
class StaticRule final : public SyncRule {
 public:
  explicit StaticRule(int x) : x_(x) {}

  Fate came(const Arrival& arrival) override {
    hold(held_, arrival.task);
    return Fate::Wait;
  }
  bool take(const Membership& membership, std::vector<Term>& terms) override {
    const int needed = x_ <= 0 ? membership.size() : std::min(x_, membership.size());
    if (held_.empty() || needed == 0 || membership.waiting() < needed) return false;
    move_all(held_, terms);
    return true;
  }
  void drain(std::vector<Term>& terms) override { move_all(held_, terms); }
  bool holds_any() const override { return !held_.empty(); }
  void lose(std::int64_t task) override { lose_from(held_, task); }

 private:
  const int x_;
  std::vector<Term> held_{};
};

}  // namespace

std::unique_ptr<SyncRule> make_static_rule(int x) { return std::make_unique<StaticRule>(x); }

}  // namespace orrery
