#include "live/agent/node_options.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace orrery {
namespace {

// As CUDA calls them, in the order of the bits.
std::vector<std::string> cuda_names(std::uint64_t gpus, const Machine& machine) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    if ((gpus >> i & 1) != 0) names.push_back(machine.gpus[i].cuda_name());
  }
  return names;
}

}  // namespace

NodeOffer offer_of(const NodeOptions& options) {
  const Machine& machine = options.machine;
  NodeOffer offer{.name = options.name.empty() ? machine.hostname : options.name,
                  .address = options.address,
                  .gpus = static_cast<int>(machine.gpus.size()),
                  .cpu_milli = std::int64_t{1000} * machine.cpu_count(),
                  .memory_bytes = machine.memory_bytes,
                  .only_user = options.only_user,
                  .zone = options.zone,
                  .losses_per_day = options.losses_per_day};
  for (const Gpu& gpu : machine.gpus) {
    const bool first = offer.gpu_type.empty();
    if (first) offer.gpu_type = gpu.name;
    offer.gpu_memory_bytes =
        first ? gpu.memory_bytes : std::min(offer.gpu_memory_bytes, gpu.memory_bytes);
  }
  return offer;
}

Launch launch_of(const Assignment& wanted, const std::vector<int>& cpus,
                 const NodeOptions& options) {
  Launch launch{.job = JobId{static_cast<std::int32_t>(wanted.name.job)},
                .epoch = wanted.name.epoch,
                .gang = {.rank = wanted.name.rank,
                         .ranks = wanted.ranks,
                         .local_rank = wanted.local_rank,
                         .local_ranks = wanted.local_ranks,
                         .node = wanted.node,
                         .nodes = wanted.nodes,
                         .master_address = wanted.master_address,
                         .master_port = wanted.master_port},
                .argv = wanted.argv,
                .environment = wanted.environment,
                .directory = wanted.directory,
                .output = wanted.output,
                .errors = wanted.errors.empty() ? wanted.output : wanted.errors,
                .user = wanted.user,
                .cpus = cpus,
                .cpu_milli = wanted.cpu_milli,
                .memory_bytes = wanted.memory_bytes,
                .cgroup_home = options.cgroup_home,
                .processes = options.processes_most,
                .core_bytes = options.core_bytes,
                .grace = wanted.grace,
                .ends_with_lease = true,
                .node_timeout = wanted.node_timeout,
                .checkpoint_directory = wanted.checkpoint_directory,
                .resumed = wanted.resumes,
                .time_left = wanted.time_left,
                .signal = wanted.signal,
                .signal_before = wanted.signal_before};
  launch.gpus = cuda_names(wanted.gpus, options.machine);
  const std::uint64_t visible = wanted.gpus | wanted.gpus_visible;
  launch.gpus_visible = cuda_names(visible, options.machine);
  for (std::size_t i = 0; i < options.machine.gpus.size(); ++i) {
    const std::string& device = options.machine.gpus[i].device;
    if ((visible >> i & 1) == 0 && !device.empty()) launch.closed_devices.push_back(device);
  }
  launch.wants_private_tmp = wanted.private_tmp;
  return launch;
}

std::string why_not_here(const Assignment& wanted, const Machine& machine) {
  const auto last = static_cast<std::size_t>(std::bit_width(wanted.gpus | wanted.gpus_visible));
  if (last > machine.gpus.size()) return "this node has no GPU " + std::to_string(last - 1);
  if (wanted.name.job > std::numeric_limits<std::int32_t>::max()) {
    return "job numbers end at 2147483647";
  }
  if (wanted.user.empty()) return "the scheduler names no user for this job";
  return {};
}

std::uint64_t gpus_of(const Launch& launch, const Machine& machine) {
  std::uint64_t gpus = 0;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const std::string gpu = machine.gpus[i].cuda_name();
    const auto& held = launch.gpus;
    if (std::find(held.begin(), held.end(), gpu) != held.end()) gpus |= std::uint64_t{1} << i;
  }
  return gpus;
}

LaunchName name_of(const Launch& launch) {
  return {.job = static_cast<std::int64_t>(launch.job),
          .epoch = launch.epoch,
          .rank = launch.gang.rank};
}

}  // namespace orrery
