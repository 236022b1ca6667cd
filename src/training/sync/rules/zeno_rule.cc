#include <algorithm>
#include <cmath>
#include <utility>

#include "training/sync/rules/rule.h"

namespace orrery {
namespace {

// Zeno++, after Xie, Koyejo and Gupta (ICML '20): a gradient is scaled to the length of the
// validation gradient v and used at once if, to first order, it makes the validation loss smaller.
class ZenoRule final : public SyncRule {
 public:
  explicit ZenoRule(const ZenoOptions& options)
      : options_(options), since_refresh_(0), wants_(true) {}

  Fate came(const Arrival& arrival) override {
    double scale = 1;
    if (arrival.norm2_validation > 0) {
      if (!(arrival.norm2 > 0)) return refused();
      scale = std::sqrt(arrival.norm2_validation / arrival.norm2);
      const double score = arrival.rate * scale * arrival.dot_validation -
                           options_.rho * arrival.norm2_validation +
                           arrival.rate * options_.epsilon;
      if (!std::isfinite(scale) || !(score >= 0)) return refused();
    }
    held_.push_back({arrival.task, scale});
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
  void updated() override { count(); }
  bool wants_validation() override { return std::exchange(wants_, false); }

 private:
  // An old v that everything contradicts must not stay for ever, so refusals count as well.
  Fate refused() {
    count();
    return Fate::Drop;
  }
  void count() {
    if (++since_refresh_ < options_.period) return;
    since_refresh_ = 0;
    wants_ = true;
  }

  const ZenoOptions options_;
  int since_refresh_;  // updates and refusals
  bool wants_;
  std::vector<Term> held_{};
};

}  // namespace

std::unique_ptr<SyncRule> make_zeno_rule(const ZenoOptions& options) {
  return std::make_unique<ZenoRule>(options);
}

}  // namespace orrery
