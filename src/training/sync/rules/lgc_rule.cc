#include <algorithm>

#include "training/sync/rules/rule.h"

namespace orrery {
namespace {

// Live gradient compensation, after Xu et al. (INFOCOM '21). What is one version old waits here for
// the next update but its worker does not, so it never counts among those that have come.
class LgcRule final : public SyncRule {
 public:
  explicit LgcRule(int x) : x_(x) {}

  Fate came(const Arrival& arrival) override {
    if (arrival.age > 1) return Fate::Drop;
    hold(held_, arrival.task);
    return arrival.age == 0 ? Fate::Wait : Fate::GoOn;
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
  bool cuts() const override { return true; }

 private:
  const int x_;
  std::vector<Term> held_{};
};

}  // namespace

std::unique_ptr<SyncRule> make_lgc_rule(int x) { return std::make_unique<LgcRule>(x); }

}  // namespace orrery
