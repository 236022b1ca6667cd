#include "live/daemon/policy/dependencies.h"

#include <algorithm>

namespace orrery {

void Dependencies::rebuild() {
  waiting_.clear();
  dependents_.clear();
  for (std::size_t i = 0; i < book_.jobs().size(); ++i) {
    const auto job = static_cast<JobId>(i);
    if (is_open(job)) add(job);
  }
}

void Dependencies::add(JobId job) {
  waiting_.resize(book_.jobs().size());
  JobId first = kNoJob;
  for (const JobNumber& number : book_.job(job).request->after) {
    const auto other = book_.find(number);
    if (!other || !is_open(*other)) continue;
    dependents_[*other].push_back(job);
    if (first == kNoJob) first = *other;
  }
  if (first == kNoJob) return;
  waiting_[index(job)] = true;
  host_.hold(job, {.code = Reason::Code::Dependency, .other = first});
}

std::vector<JobId> Dependencies::ended(JobId job) {
  const auto found = dependents_.extract(job);
  if (found.empty()) return {};
  if (host_.state().job(job).state != JobState::Done) return std::move(found.mapped());
  for (const JobId dependent : found.mapped()) {
    if (!is_open(dependent)) continue;
    const bool met =
        std::ranges::all_of(book_.job(dependent).request->after, [&](JobNumber number) {
          const auto other = book_.find(number);
          return !other || host_.state().job(*other).state == JobState::Done;
        });
    if (!met) continue;
    waiting_[index(dependent)] = false;
    host_.release(dependent);
    host_.request_round();
  }
  return {};
}

}  // namespace orrery
