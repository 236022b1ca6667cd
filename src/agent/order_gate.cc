#include "agent/order_gate.h"

namespace orrery {
namespace {

// A report so many before the last one is not worth an answer.
constexpr std::size_t kSentMost = 4096;

}  // namespace

std::int64_t OrderGate::number_report(Duration now) {
  sent_[++last_] = now;
  if (sent_.size() > kSentMost) sent_.erase(sent_.begin());
  return last_;
}

bool OrderGate::lets_in(const Orders& orders) const {
  if (orders.version != kProtocolVersion || orders.instance != instance_) return false;
  if (orders.report <= first_ || orders.report > last_) return false;
  if (orders.term != term_) return orders.term > term_;
  return orders.session >= session_ && orders.number > number_;
}

bool OrderGate::refuses(const Orders& orders) const {
  return !orders.refused.empty() && orders.instance == instance_ && sent(orders.report);
}

void OrderGate::take(const Orders& orders) {
  INVARIANT(lets_in(orders), "only orders that count are taken");
  term_ = orders.term;
  session_ = orders.session;
  number_ = orders.number;
  sent_.erase(sent_.begin(), sent_.lower_bound(orders.report));
}

std::optional<Duration> OrderGate::sent(std::int64_t report) const {
  const auto found = sent_.find(report);
  if (found == sent_.end()) return std::nullopt;
  return found->second;
}

}  // namespace orrery
