#include "live/agent/order_gate.h"

namespace orrery {
namespace {

// An answer to a report this far before the last one is ignored.
constexpr std::size_t kSentMost = 4096;

}  // namespace

std::int64_t OrderGate::number_report(Duration now) {
  sent_[++last_] = now;
  if (sent_.size() > kSentMost) sent_.erase(sent_.begin());
  return last_;
}

bool OrderGate::is_answer(const Orders& orders) const {
  if (orders.version != kProtocolVersion || orders.instance != instance_) return false;
  return orders.report > first_ && orders.report <= last_;
}

bool OrderGate::is_foreign(const Orders& orders) const {
  return is_answer(orders) && !log_.empty() && !orders.log.empty() && orders.log != log_;
}

bool OrderGate::is_outdated(const Orders& orders) const {
  return is_answer(orders) && !is_foreign(orders) && orders.term < term_ &&
         orders.report > answered_;
}

void OrderGate::follow(const std::string& log) {
  log_ = log;
  term_ = session_ = number_ = 0;
}

bool OrderGate::lets_in(const Orders& orders) const {
  if (!is_answer(orders) || is_foreign(orders) || orders.number <= 0) return false;
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
  answered_ = orders.report;
  if (!orders.log.empty()) log_ = orders.log;
  sent_.erase(sent_.begin(), sent_.lower_bound(orders.report));
}

std::optional<Duration> OrderGate::sent(std::int64_t report) const {
  const auto found = sent_.find(report);
  if (found == sent_.end()) return std::nullopt;
  return found->second;
}

}  // namespace orrery
