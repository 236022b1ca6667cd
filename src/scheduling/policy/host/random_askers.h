#pragma once

#include <algorithm>
#include <bit>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "scheduling/policy/host/host_allocator.h"

namespace orrery {

// For tests: a cluster, and jobs in a line that want CPUs and memory of it.
struct RandomAskers {
  Cluster cluster;
  Workload workload;
  std::deque<HostNeed> needs;
  std::deque<Devices> held;
  std::vector<HostAllocator::Asker> askers;

  RandomAskers(Random& random, bool alike, int jobs) {
    const auto nodes = random.between(1, 5);
    for (int n = 0; n < nodes; ++n) {
      const int gpus = alike ? 8 : static_cast<int>(random.between(1, 10));
      const auto cpus = alike ? 3 : random.between(1, 6);
      Node& node = cluster.nodes.emplace_back();
      node.name = "n" + std::to_string(n);
      node.gpus = gpus;
      node.cpu_milli = gpus * cpus * 1000;
      node.memory_bytes = gpus * 62'500'000'000;
    }
    for (int i = 0; i < 4; ++i) workload.sensitivities.push_back(random_sensitivity(random));
    const ServerSize server = mean_server(cluster);
    for (int i = 0; i < jobs; ++i) {
      JobSpec& spec = workload.jobs.emplace_back();
      spec.gpus = 1 << std::max<std::int64_t>(0, random.between(-3, 4));
      if (random.uniform() < 0.9) {
        spec.sensitivity = static_cast<SensitivityId>(random.between(0, 3));
      }
      needs.push_back(host_need(workload, spec, server));
    }
    for (int i = 0; i < jobs; ++i) {
      const JobSpec& spec = workload.jobs[static_cast<std::size_t>(i)];
      const bool senses = spec.sensitivity != kNoSensitivity;
      askers.push_back(
          {.job = static_cast<JobId>(i),
           .need = &needs[static_cast<std::size_t>(i)],
           .sensitivity = senses ? &workload.sensitivities[index(spec.sensitivity)] : nullptr,
           .kind = spec.sensitivity,
           .gpus = {.gpus = spec.gpus}});
    }
  }

  // Speeds rise with both, up to a point that differs from model to model.
  static Sensitivity random_sensitivity(Random& random) {
    Sensitivity model{.cpu_milli = {1000, 2000, 3000, 4000, 6000, 12'000},
                      .memory_bytes = {20'000'000'000, 62'500'000'000, 125'000'000'000},
                      .speed = {},
                      .ideal = {}};
    const double cpus = static_cast<double>(random.between(1, 12));
    const double cached = 0.2 + 0.8 * random.uniform();
    for (const std::int64_t cpu_milli : model.cpu_milli) {
      const double by_cpu = std::min(static_cast<double>(cpu_milli) / 1000, cpus) / 3;
      for (const double by_memory : {cached, 1.0, 2 - cached}) {
        model.speed.push_back(std::min(by_cpu, by_memory * cpus / 3));
      }
    }
    model.ideal = knee(model, 1);
    return model;
  }

  // The first for which there are GPUs run already, in the order of nodes.
  void let_some_stay(Ledger& ledger, int count) {
    for (HostAllocator::Asker& asker : askers) {
      if (count-- == 0) return;
      Devices& devices = held.emplace_back();
      if (!find_scattered(ledger, asker.gpus, devices)) continue;
      ledger.take(devices, asker.gpus);
      asker.stays = &devices;
    }
  }

  double speed_of(const Hosting::Seat& seat) const {
    const HostAllocator::Asker& asker = askers[index(seat.job)];
    if (asker.sensitivity == nullptr) return 1;
    return speed_with(*asker.sensitivity, seat.held(), asker.gpus.gpus);
  }

  // What is wrong with the books: nothing may be held twice, or be above what a server has.
  std::string fault(Hosting& hosting) const {
    Ledger& ledger = hosting.ledger();
    for (int n = 0; n < ledger.node_count(); ++n) {
      const Node& node = cluster.nodes[static_cast<std::size_t>(n)];
      HostShare left{node.cpu_milli, node.memory_bytes};
      std::uint64_t taken = 0;
      for (const Hosting::Seat& seat : hosting.seats()) {
        for (const NodeShare& share : seat.devices) {
          if (share.node != static_cast<NodeId>(n)) continue;
          if ((taken & share.gpus) != 0) return node.name + ": a GPU is held twice";
          taken |= share.gpus;
          const HostShare part = Hosting::part_on(seat, std::popcount(share.gpus));
          left.cpu_milli -= part.cpu_milli;
          left.memory_bytes -= part.memory_bytes;
        }
      }
      if (std::popcount(taken) + ledger.free_count(n) != node.gpus) return node.name + ": GPUs";
      if (left.cpu_milli != ledger.free_cpu_milli(n)) return node.name + ": CPUs do not add up";
      if (left.memory_bytes != ledger.free_memory_bytes(n)) return node.name + ": memory does not";
      if (left.cpu_milli < 0 || left.memory_bytes < 0) return node.name + " is over its capacity";
    }
    for (const Hosting::Seat& seat : hosting.seats()) {
      if (gpu_count(seat.devices) != askers[index(seat.job)].gpus.gpus) return "wrong GPU count";
    }
    return "";
  }
};

}  // namespace orrery
