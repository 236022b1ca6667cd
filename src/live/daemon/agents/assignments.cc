#include "live/daemon/agents/assignments.h"

#include <algorithm>
#include <bit>

#include "base/invariant.h"
#include "live/api/output_pattern.h"

namespace orrery {
namespace {

constexpr Duration kLeastTimeLeft = std::chrono::milliseconds(1);

OutputNames names_of(const Book& book, const LiveJob& job, int rank, NodeId node, int node_index) {
  const JobRequest& request = *job.request;
  JobNumber first = job.number;
  if (job.array_index >= 0)
    first -= std::ranges::find(request.array, job.array_index) - request.array.begin();
  return {.job = job.number,
          .array_job = first,
          .array_index = job.array_index,
          .rank = rank,
          .node = node_index,
          .node_name = book.node(node).offer.name,
          .user = request.user,
          .name = job_name(request, -1)};
}

// The place of a rank's node among the job's nodes, in its last epoch.
int node_index_of(const LiveJob& job, int rank) {
  int place = 0;
  for (int i = 1; i <= rank && i < static_cast<int>(job.ran_on.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (job.ran_on[at] != job.ran_on[at - 1]) ++place;
  }
  return place;
}

std::uint64_t gpus_on(const Grant& held, NodeId node) {
  const auto share = std::ranges::find(held.devices, node, &NodeShare::node);
  return share == held.devices.end() ? 0 : share->gpus;
}

}  // namespace

Assignment assignment_of(const Book& book, const LiveJob& job, const LiveLaunch& launch,
                         const Grant& held, const Rendezvous& rendezvous) {
  const JobRequest& request = *job.request;
  INVARIANT(!held.devices.empty(), "a job that is wanted somewhere holds devices");
  const int gpus = std::max(1, gpu_count(held.devices));
  const int own = std::popcount(launch.gpus);
  const NodeId first = held.devices.front().node;
  const OutputNames names = names_of(book, job, launch.name.rank, launch.node, launch.node_index);
  Assignment given{.name = launch.name,
                   .ranks = job.ranks(),
                   .local_rank = launch.local_rank,
                   .local_ranks = launch.local_ranks,
                   .node = launch.node_index,
                   .nodes = static_cast<int>(held.devices.size()),
                   .master_address = book.node(first).offer.address,
                   .master_port = rendezvous.port(job.number, launch.name.epoch).value_or(0),
                   .argv = request.argv,
                   .environment = request.environment,
                   .directory = request.directory,
                   .user = request.user,
                   .gpus = launch.gpus,
                   .cpu_milli = held.cpu_milli * own / gpus,
                   .memory_bytes = held.memory_bytes * own / gpus,
                   .grace = request.grace,
                   .output = expand_output(request.output, names),
                   .checkpoint_directory = request.checkpoint_directory,
                   .resumes = job.epoch > 1,
                   .shares = held.sharing != Sharing::Exclusive,
                   .node_timeout = launch.node_timeout,
                   .gpus_visible = gpus_on(held, launch.node),
                   .errors = expand_output(request.errors, names),
                   .time_left = time_left(job),
                   .signal = request.signal,
                   .signal_before = request.signal_before,
                   .private_tmp = request.private_tmp};
  if (job.array_index >= 0) {
    given.environment.emplace_back("ORRERY_ARRAY_INDEX", std::to_string(job.array_index));
  }
  return given;
}

bool waits_for_port(const LiveJob& job, const LiveLaunch& launch, const Rendezvous& rendezvous) {
  if (launch.node_index == 0 || launch.named_in != 0) return false;
  if (rendezvous.port(job.number, launch.name.epoch)) return false;
  // Without rank 0 there is nothing to meet, and nothing to wait for.
  return std::ranges::any_of(job.launches, [&](const LiveLaunch& other) {
    return other.name.epoch == launch.name.epoch && other.name.rank == 0;
  });
}

Duration time_left(const LiveJob& job) {
  const Duration limit = job.request->time_limit;
  if (limit <= Duration::zero()) return {};
  return std::max(kLeastTimeLeft, limit - job.ran_before());
}

LogRequest log_request(const Book& book, const LiveJob& job, const LogsRequest& wanted, NodeId node,
                       std::int64_t number) {
  const JobRequest& request = *job.request;
  const OutputNames names = names_of(book, job, wanted.rank, node, node_index_of(job, wanted.rank));
  LogRequest asked{.request = number,
                   .launch = {.job = wanted.id, .epoch = job.epoch, .rank = wanted.rank},
                   .offset = wanted.offset,
                   .most = wanted.most,
                   .wait = wanted.wait,
                   .path = expand_output(wanted.errors ? request.errors : request.output, names),
                   .user = request.user,
                   .errors = wanted.errors};
  // On a node that the job has left, the newest of its runs there.
  for (const LiveLaunch& launch : job.launches) {
    if (launch.node == node && launch.name.rank == wanted.rank) asked.launch = launch.name;
  }
  return asked;
}

}  // namespace orrery
