#include <algorithm>
#include <limits>
#include <utility>

#include "training/sync/rules/rule.h"

namespace orrery {
namespace {

// Stale synchronous parallel, after Ho et al. (NIPS '13). A worker that joins begins where the
// slowest is.
class SspRule final : public SyncRule {
 public:
  explicit SspRule(int bound) : bound_(std::max(0, bound)) {}

  void regroup(const Membership& membership) override {
    present_.assign(membership.seats().begin(), membership.seats().end());
    done_.resize(static_cast<std::size_t>(membership.seats_ever()), least_);
    find_least();
  }

  Fate came(const Arrival& arrival) override {
    hold(held_, arrival.task);
    for (const int seat : arrival.seats) {
      if (done(seat)++ == least_) --at_least_;
    }
    if (at_least_ == 0) find_least();
    return Fate::Wait;
  }

  bool take(const Membership&, std::vector<Term>& terms) override {
    if (held_.empty()) return false;
    terms.push_back(held_.front());
    held_.erase(held_.begin());
    return true;
  }
  void drain(std::vector<Term>& terms) override { move_all(held_, terms); }
  bool holds_any() const override { return !held_.empty(); }
  void lose(std::int64_t task) override { lose_from(held_, task); }

  bool may_start(int seat) const override {
    return done_[static_cast<std::size_t>(seat)] - least_ <= bound_;
  }
  bool reopened() override { return std::exchange(reopened_, false); }

 private:
  std::int64_t& done(int seat) { return done_[static_cast<std::size_t>(seat)]; }

  void find_least() {
    if (present_.empty()) return;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    at_least_ = 0;
    for (const int seat : present_) {
      if (done(seat) < least) {
        least = done(seat);
        at_least_ = 0;
      }
      at_least_ += done(seat) == least;
    }
    reopened_ = reopened_ || least > least_;
    least_ = least;
  }

  const std::int64_t bound_;
  std::vector<int> present_{};
  std::vector<std::int64_t> done_{};  // by seat: tasks since this mode began
  std::int64_t least_ = 0;            // among those present
  int at_least_ = 0;                  // how many of them are there
  bool reopened_ = false;
  std::vector<Term> held_{};
};

}  // namespace

std::unique_ptr<SyncRule> make_ssp_rule(int bound) { return std::make_unique<SspRule>(bound); }

}  // namespace orrery
