#include "scheduling/policy/host/host_line.h"

#include <algorithm>

namespace orrery {

void HostLine::update(const View& view) {
  changed_.clear();
  order_->refresh(view, changed_);
  if (!view.ended.empty()) {
    std::erase_if(line_, [&](const Entry& entry) { return view.has_ended(entry.job); });
  }
  for (const JobId job : view.arrived) {
    order_->arrived(view, job);
    needs_.add(view, job);
    if (ran_.size() <= index(job)) {
      ran_.resize(index(job) + 1);
      named_.resize(index(job) + 1);
    }
    ran_[index(job)] = view.spec(job).submitted;
    Entry& entry = line_.emplace_back();
    entry.job = job;
    entry.gpus = view.spec(job).gpus;
    entry.runs = view.job(job).state == JobState::Running;
    if (entry.runs) order_->started(view, job);
  }
  for (const JobId job : changed_) named_[index(job)] = true;
  // Nearly sorted already, so that each finds its place in a few steps.
  for (std::size_t i = 0; i < line_.size(); ++i) {
    if (line_[i].may_change || named_[index(line_[i].job)]) {
      line_[i].rank = order_->rank(view, line_[i].job);
    }
    if (i == 0 || !(line_[i] < line_[i - 1])) continue;
    const Entry entry = line_[i];
    std::size_t place = i;
    for (; place > 0 && entry < line_[place - 1]; --place) line_[place] = line_[place - 1];
    line_[place] = entry;
  }
  for (const JobId job : changed_) named_[index(job)] = false;
  if (boost_ > Duration::zero()) boost(view);
}

// From the next round on.
void HostLine::boost(const View& view) {
  for (Entry& entry : line_) {
    if (entry.boosted || entry.runs) continue;
    entry.boosted = view.now - ran_[index(entry.job)] > boost_;
  }
}

void HostLine::choose(int gpus, const Choice& choice, std::vector<Asked>& asked) const {
  asked.clear();
  const auto ask_each = [&](auto are_meant) {
    for (const Entry& entry : line_) {
      if (!are_meant(entry)) continue;
      const bool chosen = entry.gpus <= gpus;
      if (chosen) gpus -= entry.gpus;
      if (chosen || !choice.only_chosen) asked.push_back({entry.job, chosen});
    }
  };
  ask_each([&](const Entry& entry) { return !choice.runners_first || entry.runs; });
  if (choice.runners_first) ask_each([](const Entry& entry) { return !entry.runs; });
}

}  // namespace orrery
