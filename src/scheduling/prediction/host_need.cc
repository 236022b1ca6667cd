#include "scheduling/prediction/host_need.h"

#include <algorithm>

namespace orrery {
namespace {

// The ideal of one resource, cut down to what a server has. Returns what is to be done about the
// gain of a job that cannot have all it wants.
enum class Cut { None, Shrink, Gone };

Cut cut_down(std::int64_t& ideal, std::int64_t fair, std::int64_t server, bool spans_servers) {
  if (ideal <= server) return Cut::None;
  ideal = spans_servers ? fair : server;
  return spans_servers ? Cut::Gone : Cut::Shrink;
}

// 0: not stated.
void take_least(std::int64_t& least, std::int64_t amount) {
  if (amount > 0 && (least == 0 || amount < least)) least = amount;
}

double cores(std::int64_t milli) { return static_cast<double>(milli) / 1000; }

}  // namespace

ServerSize mean_server(const Cluster& cluster) {
  std::int64_t servers = 0;
  ServerSize server;
  for (const Node& node : cluster.nodes) {
    if (node.gpus == 0 || !node.open) continue;
    ++servers;
    server.host.cpu_milli += node.cpu_milli;
    server.host.memory_bytes += node.memory_bytes;
    take_least(server.each_gpu.cpu_milli, node.cpu_milli / node.gpus);
    take_least(server.each_gpu.memory_bytes, node.memory_bytes / node.gpus);
  }
  servers = std::max<std::int64_t>(1, servers);
  server.gpus = std::max(1, static_cast<int>(cluster.gpus_total() / servers));
  server.host.cpu_milli /= servers;
  server.host.memory_bytes /= servers;
  return server;
}

HostNeed host_need(const Workload& workload, const JobSpec& spec, const ServerSize& server) {
  HostNeed need;
  // The same for each GPU, so that the parts on several servers are no more than the whole.
  need.fair = {server.each_gpu.cpu_milli * spec.gpus, server.each_gpu.memory_bytes * spec.gpus};
  if (spec.sensitivity == kNoSensitivity) {
    if (spec.cpu_milli > 0) need.fair.cpu_milli = spec.cpu_milli;
    if (spec.memory_bytes > 0) need.fair.memory_bytes = spec.memory_bytes;
    need.ideal = need.minimum = need.fair;
    return need;
  }
  const Sensitivity& sensitivity = workload.sensitivities[index(spec.sensitivity)];
  need.ideal = {sensitivity.ideal.cpu_milli * spec.gpus,
                sensitivity.ideal.memory_bytes * spec.gpus};
  if (server.host.cpu_milli == 0) need.ideal.cpu_milli = 0;
  if (server.host.memory_bytes == 0) need.ideal.memory_bytes = 0;
  if (need.fair == HostShare{}) {
    need.ideal = {};
    return need;
  }
  need.fair_speed = speed_with(sensitivity, need.fair, spec.gpus);
  if (speed_with(sensitivity, need.ideal, spec.gpus) < need.fair_speed) need.ideal = need.fair;
  const HostShare wanted = need.ideal;
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
  if (cut != Cut::None && speed_with(sensitivity, need.ideal, spec.gpus) < need.fair_speed) {
    need.ideal = {std::max(need.ideal.cpu_milli, need.fair.cpu_milli),
                  std::max(need.ideal.memory_bytes, need.fair.memory_bytes)};
  }
  need.minimum = {std::min(need.ideal.cpu_milli, need.fair.cpu_milli),
                  std::min(need.ideal.memory_bytes, need.fair.memory_bytes)};
  if (speed_with(sensitivity, need.minimum, spec.gpus) < need.fair_speed) need.minimum = need.fair;
  return need;
}

double host_speed(const Workload& workload, const JobSpec& spec, const HostShare& held, int gpus) {
  if (spec.sensitivity == kNoSensitivity || held == HostShare{}) return 1;
  return speed_with(workload.sensitivities[index(spec.sensitivity)], held, gpus);
}

}  // namespace orrery
