#include "training/trainer/head/worker_limit.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/files.h"

namespace orrery {
namespace {

constexpr int kWorkersMost = 4096;  // as at the start of a run
constexpr int kWorkersOfACore = 4;
constexpr double kMemoryShare = 0.8;  // of what is free

// The number after `name` in a file of lines "NAME: 123 kB"; 0: it is not there.
double kilobytes(const std::string& path, const std::string& name) {
  auto text = read_file(path);
  if (!text.ok()) return 0;
  const auto at = text.value().find(name);
  return at == std::string::npos ? 0
                                 : std::strtod(text.value().c_str() + at + name.size(), nullptr);
}

void lower(WorkerLimit& limit, double most, const std::string& why) {
  const int whole = static_cast<int>(std::clamp(most, 1.0, 1.0 * kWorkersMost));
  if (whole < limit.most) limit = {.most = whole, .why = why};
}

}  // namespace

WorkerLimit worker_limit(const WorkerCapacity& capacity) {
  WorkerLimit limit{.most = kWorkersMost, .why = "no run has more"};
  lower(limit, static_cast<double>(capacity.batch),
        fmt::format("each needs a sample of a batch of {}", capacity.batch));
  if (capacity.emulated > 0) {
    lower(limit, capacity.emulated, fmt::format("{} servers are emulated", capacity.emulated));
  }
  if (capacity.asked_most > 0) {
    lower(limit, capacity.asked_most, fmt::format("--workers-most {}", capacity.asked_most));
    return limit;
  }
  if (capacity.anyway) return limit;
  if (capacity.cores > 0) {
    lower(limit, std::max(capacity.present, kWorkersOfACore * capacity.cores),
          fmt::format("{} cores, {} workers each", capacity.cores, kWorkersOfACore));
  }
  if (capacity.memory_free > 0 && capacity.worker_bytes > 0) {
    const double more = std::floor(kMemoryShare * capacity.memory_free / capacity.worker_bytes);
    constexpr double kMiB = 1 << 20;
    lower(limit, capacity.present + more,
          fmt::format("{:.0f} MiB of memory are free, and a worker uses {:.0f}",
                      capacity.memory_free / kMiB, capacity.worker_bytes / kMiB));
  }
  return limit;
}

int workers_to_start(const WorkerStart& start) {
  const int at_once = start.ready == 0 ? 1 : std::max(1, start.cores);
  const int missing = start.wanted - start.ready - start.starting;
  return std::max(0, std::min(missing, at_once - start.starting));
}

int machine_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(0L, sysconf(_SC_NPROCESSORS_ONLN)));
}

double memory_free_bytes() {
  double free = 1024 * kilobytes("/proc/meminfo", "MemAvailable:");
  // A container sees its own control group at the root.
  const double most = std::strtod(read_word("/sys/fs/cgroup/memory.max").c_str(), nullptr);
  const double used = std::strtod(read_word("/sys/fs/cgroup/memory.current").c_str(), nullptr);
  if (most > 0) free = std::min(free, std::max(1.0, most - used));
  return free;
}

double memory_used_bytes(std::span<const pid_t> processes) {
  double most = 0;
  for (const pid_t process : processes) {
    most = std::max(most, 1024 * kilobytes(fmt::format("/proc/{}/status", process), "VmRSS:"));
  }
  return most;
}

}  // namespace orrery
