#include "scheduling/policy/host/host_servers.h"

#include <tuple>

namespace orrery {
namespace {

constexpr double kNothing = 1e-9;

HostShare plus(HostShare a, const HostShare& b) { return a += b; }
HostShare minus(HostShare a, const HostShare& b) { return a -= b; }

double part(std::int64_t amount, std::int64_t of) {
  return of == 0 ? 0 : static_cast<double>(amount) / static_cast<double>(of);
}

}  // namespace

void HostServers::begin(const Ledger& ledger) {
  ledger_ = &ledger;
  servers_.clear();
  for (int node = 0; node < ledger.node_count(); ++node) {
    const HostShare capacity{ledger.free_cpu_milli(node), ledger.free_memory_bytes(node)};
    servers_.push_back({.capacity = capacity,
                        .minimum_left = capacity,
                        .meant_left = capacity,
                        .gpus = ledger.gpus_of(node),
                        .gpus_free = ledger.free_count(node)});
  }
}

// As a part of what the server has.
double HostServers::missing(const Server& server, const HostShare& meant_left) {
  return part(std::max<std::int64_t>(0, -meant_left.cpu_milli), server.capacity.cpu_milli) +
         part(std::max<std::int64_t>(0, -meant_left.memory_bytes), server.capacity.memory_bytes);
}

// What is left for each free GPU of whatever is scarcer.
double HostServers::wealth(const Server& server) {
  const double left = std::min(part(server.meant_left.cpu_milli, server.capacity.cpu_milli),
                               part(server.meant_left.memory_bytes, server.capacity.memory_bytes));
  return left / server.gpus_free;
}

bool HostServers::takes(int node, const Job& job) const {
  return at(node).gpus_free >= job.asker->gpus.gpus && within(job.minimum, at(node).minimum_left) &&
         ledger_->serves(node, job.asker->gpus);
}

void HostServers::put(Job& job, int node) {
  job.node = node;
  Server& server = at(node);
  server.minimum_left -= job.minimum;
  server.meant_left -= job.meant;
  if (!job.stays) server.gpus_free -= job.asker->gpus.gpus;
}

int HostServers::best_node(const Job& job) const {
  int best = -1;
  std::tuple<double, double, int> least;
  for (int node = 0; node < static_cast<int>(servers_.size()); ++node) {
    if (!takes(node, job)) continue;
    const Server& server = at(node);
    const double more =
        missing(server, minus(server.meant_left, job.meant)) - missing(server, server.meant_left);
    const std::tuple<double, double, int> rank(more, -wealth(server), server.gpus_free);
    if (best >= 0 && !(rank < least)) continue;
    best = node;
    least = rank;
  }
  return best;
}

// By how much less is missing if the two change places; nothing if they cannot.
double HostServers::saved(const Job& job, const Job& other) const {
  const Server& here = at(job.node);
  const Server& there = at(other.node);
  const bool fits = within(other.minimum, plus(here.minimum_left, job.minimum)) &&
                    within(job.minimum, plus(there.minimum_left, other.minimum)) &&
                    ledger_->serves(job.node, other.asker->gpus) &&
                    ledger_->serves(other.node, job.asker->gpus);
  if (!fits) return 0;
  return missing(here, here.meant_left) + missing(there, there.meant_left) -
         missing(here, minus(plus(here.meant_left, job.meant), other.meant)) -
         missing(there, minus(plus(there.meant_left, other.meant), job.meant));
}

bool HostServers::swap_best(std::vector<Job>& jobs) {
  double most = kNothing;
  Job* one = nullptr;
  Job* other = nullptr;
  for (Job& job : jobs) {
    if (job.stays || job.node < 0) continue;
    if (missing(at(job.node), at(job.node).meant_left) <= kNothing) continue;
    for (Job& candidate : jobs) {
      if (candidate.stays || candidate.node < 0 || candidate.node == job.node) continue;
      if (candidate.asker->gpus.gpus != job.asker->gpus.gpus) continue;
      const double less = saved(job, candidate);
      if (less <= most + kNothing) continue;
      most = less;
      one = &job;
      other = &candidate;
    }
  }
  if (one == nullptr) return false;
  const int here = one->node;
  const int there = other->node;
  for (Job* job : {one, other}) {
    Server& server = at(job->node);
    server.minimum_left += job->minimum;
    server.meant_left += job->meant;
    server.gpus_free += job->asker->gpus.gpus;
  }
  put(*one, there);
  put(*other, here);
  return true;
}

void HostServers::assign(std::vector<Job>& jobs) {
  order_.clear();
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs[i];
    if (job.stays && within(job.minimum, at(job.node).minimum_left)) {
      put(job, job.node);
      continue;
    }
    if (job.stays) at(job.node).gpus_free += job.asker->gpus.gpus;
    job.stays = false;
    job.node = -1;
    order_.push_back(i);
  }
  HostShare capacity;
  for (const Server& server : servers_) capacity += server.capacity;
  std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) {
    const double share = std::max(part(jobs[i].meant.cpu_milli, capacity.cpu_milli),
                                  part(jobs[i].meant.memory_bytes, capacity.memory_bytes));
    return std::tuple(-jobs[i].asker->gpus.gpus, -share);
  });
  for (const std::uint32_t i : order_) {
    const int node = best_node(jobs[i]);
    if (node >= 0) put(jobs[i], node);
  }
  for (std::size_t swaps = 0; swaps < jobs.size() && swap_best(jobs);) ++swaps;
}

}  // namespace orrery
