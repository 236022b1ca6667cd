#include "live/daemon/agents/fences.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr int kDriftPart = 500;

}  // namespace

Time Fences::fence_at(const LiveLaunch& launch, Duration grace, Time seen) const {
  const bool has_own = launch.node_timeout > Duration::zero();
  const Duration timeout = has_own ? launch.node_timeout : options_.lease;
  if (timeout >= kNodeTimeoutMax) return kNever;
  return seen + timeout + grace + options_.margin + timeout / kDriftPart;
}

Fences::Verdict Fences::look(const Book& book, NodeId node, Time seen, Time now) const {
  Verdict verdict;
  for (const LaunchName& name : book.node(node).launches) {
    const LiveJob& job = book.job(*book.find(name.job));
    const auto launch = std::ranges::find(job.launches, name, &LiveLaunch::name);
    const Time fence = fence_at(*launch, job.request->grace, seen);
    if (fence <= now) {
      verdict.over.push_back(name);
    } else {
      verdict.next = std::min(verdict.next, fence);
    }
  }
  return verdict;
}

std::vector<JobId> jobs_behind_lost_nodes(const Book& book) {
  std::vector<JobId> jobs;
  for (const LiveNode& node : book.nodes()) {
    if (node.state != NodeState::Lost) continue;
    for (const LaunchName& name : node.launches) {
      const JobId id = *book.find(name.job);
      const LiveJob& job = book.job(id);
      if (!job.wanted || name.epoch != job.epoch) jobs.push_back(id);
    }
  }
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

}  // namespace orrery
