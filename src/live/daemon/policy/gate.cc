#include "live/daemon/policy/gate.h"

#include <algorithm>
#include <tuple>

namespace orrery {
namespace {

bool comes_first(const GateJob& a, const GateJob& b) {
  return std::tuple(-a.priority, !a.runs, a.job) < std::tuple(-b.priority, !b.runs, b.job);
}

// Takes those that no quota covers out of `jobs`.
std::vector<GateJob> take_borrowers(std::vector<GateJob>& jobs, const Entitlements::Quotas& quotas,
                                    std::vector<Held>& held) {
  std::map<std::string_view, int> left;
  for (const auto& [tenant, quota] : quotas) left[tenant] = quota.gpus;
  std::vector<GateJob> borrowers;
  std::erase_if(jobs, [&](const GateJob& job) {
    const auto own = left.find(job.tenant);
    const int covered = own == left.end() ? 0 : own->second;
    if (job.gpus <= covered) {
      own->second -= job.gpus;
      return false;
    }
    const auto quota = quotas.find(std::string(job.tenant));
    if (quota != quotas.end() && !quota->second.borrows) {
      held.push_back(
          {job.job, {.code = Reason::Code::Quota, .wanted = job.gpus, .available = covered}});
    } else {
      borrowers.push_back(job);
    }
    return true;
  });
  return borrowers;
}

}  // namespace

std::vector<Held> jobs_to_hold(std::vector<GateJob> jobs, const Entitlements::Quotas& quotas,
                               int gpus_total) {
  std::ranges::sort(jobs, comes_first);
  std::vector<Held> held;
  std::vector<GateJob> borrowers;
  if (!quotas.empty()) borrowers = take_borrowers(jobs, quotas, held);
  std::int64_t left = gpus_total;
  for (auto first = jobs.begin(); first != jobs.end();) {
    const auto last = std::find_if(
        first, jobs.end(), [&](const GateJob& job) { return job.priority != first->priority; });
    const bool released = left > 0 || first == jobs.begin();
    for (; first != last; ++first) {
      if (released) {
        left -= first->gpus;
      } else {
        held.push_back({first->job, {.code = Reason::Code::Priority, .wanted = first->gpus}});
      }
    }
  }
  for (const GateJob& job : borrowers) {
    if (left > 0) {
      left -= job.gpus;
    } else {
      held.push_back({job.job, {.code = Reason::Code::Quota, .wanted = job.gpus}});
    }
  }
  return held;
}

}  // namespace orrery
