#include "daemon/stops.h"

#include <algorithm>
#include <utility>

namespace orrery {

using State = StopAgreement::State;

void Stops::begin(const LaunchName& gang, int ranks, std::string reason, Time now) {
  asked_.insert_or_assign(gang.job, Asked{.epoch = gang.epoch,
                                          .reason = std::move(reason),
                                          .agreement = StopAgreement(ranks, now, patience_)});
}

const Stops::Asked* Stops::find(const LaunchName& name) const {
  const auto found = asked_.find(name.job);
  return found == asked_.end() || found->second.epoch != name.epoch ? nullptr : &found->second;
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
  const bool agreed = asked->state == State::Agreed;
  return StopOrder{.launch = name,
                   .at = agreed ? static_cast<double>(asked->agreement.iteration()) : -1,
                   .reason = asked->reason};
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
