#include "predict/host_need.h"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

// The ideal of one resource, cut down to what a server has. Answers what is to be done about the
// gain of a job that cannot have all it wants.
enum class Cut { None, Shrink, Gone };

Cut cut_down(std::int64_t& ideal, std::int64_t fair, std::int64_t server, bool spans_servers) {
  if (ideal <= server) return Cut::None;
  ideal = spans_servers ? fair : server;
  return spans_servers ? Cut::Gone : Cut::Shrink;
}

double cores(std::int64_t milli) { return static_cast<double>(milli) / 1000; }

}  // namespace

ServerSize mean_server(const Cluster& cluster) {
  std::int64_t servers = 0;
  std::int64_t gpus = 0;
  HostShare least{std::numeric_limits<std::int64_t>::max(),
                  std::numeric_limits<std::int64_t>::max()};  // for one GPU
  for (const Node& node : cluster.nodes) {
    if (node.gpus == 0) continue;
    ++servers;
    gpus += node.gpus;
    least.cpu_milli = std::min(least.cpu_milli, node.cpu_milli / node.gpus);
    least.memory_bytes = std::min(least.memory_bytes, node.memory_bytes / node.gpus);
  }
  if (servers == 0) return {.gpus = 1, .host = {}};
  const std::int64_t mean = gpus / servers;
  return {.gpus = static_cast<int>(mean),
          .host = {least.cpu_milli * mean, least.memory_bytes * mean}};
}

HostNeed host_need(const Workload& workload, const JobSpec& spec, const ServerSize& server) {
  HostNeed need;
  // So much for each GPU, so that the parts on several servers are no more than the whole.
  need.fair = {server.host.cpu_milli / server.gpus * spec.gpus,
               server.host.memory_bytes / server.gpus * spec.gpus};
  if (spec.sensitivity == kNoSensitivity) {
    if (spec.cpu_milli > 0) need.fair.cpu_milli = spec.cpu_milli;
    if (spec.memory_bytes > 0) need.fair.memory_bytes = spec.memory_bytes;
    need.ideal = need.fair;
    return need;
  }
  const Sensitivity& sensitivity = workload.sensitivities[index(spec.sensitivity)];
  need.ideal = {sensitivity.ideal.cpu_milli * spec.gpus,
                sensitivity.ideal.memory_bytes * spec.gpus};
  if (server.host.cpu_milli == 0) need.ideal.cpu_milli = 0;
  if (server.host.memory_bytes == 0) need.ideal.memory_bytes = 0;
  if (need.fair == HostShare{}) return need;
  const HostShare wanted = need.ideal;
  need.fair_speed = speed_with(sensitivity, need.fair, spec.gpus);
  need.gain = speed_with(sensitivity, wanted, spec.gpus) / need.fair_speed;
  const bool spans = spec.gpus > server.gpus;
  Cut cut = cut_down(need.ideal.cpu_milli, need.fair.cpu_milli, server.host.cpu_milli, spans);
  const Cut memory =
      cut_down(need.ideal.memory_bytes, need.fair.memory_bytes, server.host.memory_bytes, spans);
  if (memory != Cut::None) cut = memory;
  if (cut == Cut::Gone) need.gain = 1;
  if (cut == Cut::Shrink && wanted.cpu_milli != need.fair.cpu_milli) {
    const double slope = (need.gain - 1) / (cores(wanted.cpu_milli) - cores(need.fair.cpu_milli));
    need.gain = 1 + slope * (cores(need.ideal.cpu_milli) - cores(need.fair.cpu_milli));
  }
  return need;
}

double speed_held(const Workload& workload, const JobSpec& spec, const HostShare& held) {
  const double measured = 1 / spec.iteration_s;
  if (spec.sensitivity == kNoSensitivity || held == HostShare{}) return measured;
  return measured * speed_with(workload.sensitivities[index(spec.sensitivity)], held, spec.gpus);
}

}  // namespace orrery
