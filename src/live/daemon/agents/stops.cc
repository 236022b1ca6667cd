#include "live/daemon/agents/stops.h"

#include <algorithm>
#include <utility>

namespace orrery {

using State = StopAgreement::State;

void Stops::begin(StopOrder order, int ranks, Time now) {
  const JobNumber job = order.launch.job;
  asked_.insert_or_assign(
      job, Asked{.order = std::move(order), .agreement = StopAgreement(ranks, now, patience_)});
}

const Stops::Asked* Stops::find(const LaunchName& name) const {
  const auto found = asked_.find(name.job);
  const bool is_it = found != asked_.end() && found->second.order.launch.epoch == name.epoch;
  return is_it ? &found->second : nullptr;
}

void Stops::heard(const LaunchReport& report) {
  if (find(report.name) == nullptr || report.can_stop_at == -1) return;
  StopAgreement& agreement = asked_.at(report.name.job).agreement;
  if (report.can_stop_at < 0) {
    agreement.cannot_answer(report.name.rank);
  } else {
    agreement.answer(report.name.rank, static_cast<std::int64_t>(report.can_stop_at));
  }
}

void Stops::left(const LaunchName& name) {
  if (find(name) != nullptr) asked_.at(name.job).agreement.left(name.rank);
}

std::optional<StopOrder> Stops::order(const LaunchName& name) const {
  const Asked* asked = find(name);
  if (asked == nullptr) return {};
  StopOrder order = asked->order;
  order.launch = name;
  if (asked->state == State::Agreed) order.at = static_cast<double>(asked->agreement.iteration());
  return order;
}

std::vector<JobNumber> Stops::look(Time now) {
  std::vector<JobNumber> changed;
  for (auto& [job, asked] : asked_) {
    const State before = std::exchange(asked.state, asked.agreement.look(now));
    if (asked.state != before) changed.push_back(job);
  }
  std::erase_if(asked_, [](const auto& one) {
    return one.second.state == State::Terminate || one.second.state == State::Over;
  });
  return changed;
}

Time Stops::next_due() const {
  Time due = kNever;
  for (const auto& [job, asked] : asked_) due = std::min(due, asked.agreement.deadline());
  return due;
}

}  // namespace orrery
