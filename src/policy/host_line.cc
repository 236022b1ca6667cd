#include "policy/host_line.h"

#include <algorithm>

namespace orrery {

void HostLine::update(const View& view) {
  changed_.clear();
  order_->refresh(view, changed_);
  if (!view.ended.empty()) {
    std::erase_if(line_, [&](const Entry& entry) { return is_final(view.job(entry.job).state); });
  }
  for (const JobId job : view.arrived) {
    order_->arrived(view, job);
    needs_.add(view, job);
    if (ran_.size() <= index(job)) ran_.resize(index(job) + 1);
    ran_[index(job)] = view.spec(job).submitted;
    line_.push_back({.boosted = false, .rank = {}, .job = job, .gpus = view.spec(job).gpus});
  }
  // Nearly sorted already, so that everybody finds their place in a few steps.
  for (std::size_t i = 0; i < line_.size(); ++i) {
    line_[i].rank = order_->rank(view, line_[i].job);
    const Entry entry = line_[i];
    std::size_t place = i;
    for (; place > 0 && entry < line_[place - 1]; --place) line_[place] = line_[place - 1];
    line_[place] = entry;
  }
  if (boost_ > Duration::zero()) boost(view);
}

// From the next round on, as in the published simulator.
void HostLine::boost(const View& view) {
  for (Entry& entry : line_) {
    if (entry.boosted || view.job(entry.job).state == JobState::Running) continue;
    entry.boosted = view.now - ran_[index(entry.job)] > boost_;
  }
}

}  // namespace orrery
