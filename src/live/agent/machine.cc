#include "live/agent/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <sstream>

#include "base/files.h"
#include "live/job_runner/cpu_sets.h"

namespace orrery {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || last == text.data()) return std::nullopt;
  return value;
}

// The mask grows until the kernel's own fits in.
Result<std::vector<int>> own_affinity() {
  for (int bits = CPU_SETSIZE; bits <= 64 * CPU_SETSIZE; bits *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(bits));
    INVARIANT(set, "a CPU mask fits into memory");
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(bits));
    const bool got = sched_getaffinity(0, size, set) == 0;
    std::vector<int> cpus;
    for (int cpu = 0; got && cpu < bits; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (got) return cpus;
  }
  return Error{Code::Unavailable, "sched_getaffinity gives no mask of this process's CPUs"};
}

// One line of /proc/self/cgroup, "4:memory:/a/b", as the directories from its root to its leaf.
struct Hierarchy {
  std::string controllers{};  // empty: version 2
  std::vector<std::string> directories{};
};

std::vector<Hierarchy> own_cgroups(const std::string& root) {
  std::vector<Hierarchy> found;
  std::istringstream lines(read_word(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    Hierarchy hierarchy{.controllers = line.substr(first + 1, second - first - 1)};
    const std::string base = root + "/sys/fs/cgroup";
    std::string mount = base + "/" + hierarchy.controllers;
    if (hierarchy.controllers.empty()) {
      std::error_code none;
      mount = std::filesystem::exists(base + "/unified", none) ? base + "/unified" : base;
    }
    const std::string path = line.substr(second + 1);
    hierarchy.directories.push_back(mount);
    for (std::size_t slash = 0; slash < path.size();) {
      slash = std::min(path.find('/', slash + 1), path.size());
      if (slash > 1) hierarchy.directories.push_back(mount + path.substr(0, slash));
    }
    found.push_back(std::move(hierarchy));
  }
  return found;
}

bool controls(const Hierarchy& hierarchy, std::string_view controller) {
  std::istringstream names(hierarchy.controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == controller) return true;
  }
  return false;
}

// In thousandths of a CPU.
std::optional<std::int64_t> quota_of(const Hierarchy& hierarchy, const std::string& directory) {
  std::string quota, period;
  if (hierarchy.controllers.empty()) {
    std::istringstream words(read_word(directory + "/cpu.max"));  // "max 100000"
    words >> quota >> period;
  } else if (controls(hierarchy, "cpu")) {
    quota = read_word(directory + "/cpu.cfs_quota_us");  // -1: none
    period = read_word(directory + "/cpu.cfs_period_us");
  }
  const auto numerator = number(quota);
  const auto denominator = number(period);
  if (!numerator || !denominator || *numerator <= 0 || *denominator <= 0) return std::nullopt;
  return *numerator * 1000 / *denominator;
}

std::optional<std::int64_t> memory_limit_of(const Hierarchy& hierarchy,
                                            const std::string& directory) {
  if (hierarchy.controllers.empty()) return number(read_word(directory + "/memory.max"));
  if (!controls(hierarchy, "memory")) return std::nullopt;
  return number(read_word(directory + "/memory.limit_in_bytes"));
}

Result<std::int64_t> memory_total(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  TRY_ASSIGN(const std::string text, read_file(path));
  const std::size_t at = text.find("MemTotal:");
  if (at != text.npos) {
    const std::size_t digits = text.find_first_of("0123456789", at);
    if (digits != text.npos) {
      if (const auto kib = number(std::string_view(text).substr(digits))) return *kib * 1024;
    }
  }
  return invalid(path + ": has no MemTotal");
}

Result<std::vector<NumaNode>> numa_nodes(const std::string& root, const std::vector<int>& usable) {
  std::vector<NumaNode> nodes;
  std::vector<int> left = usable;
  const std::string folder = root + "/sys/devices/system/node";
  TRY_ASSIGN(const std::vector<int> online, read_cpu_list(read_word(folder + "/online")));
  for (const int id : online) {
    const std::string path = folder + "/node" + std::to_string(id) + "/cpulist";
    auto cpus = read_cpu_list(read_word(path));
    if (!cpus.ok()) return std::move(cpus).error().at(path);
    NumaNode node{.id = id};
    std::vector<int> others;
    std::set_intersection(left.begin(), left.end(), cpus.value().begin(), cpus.value().end(),
                          std::back_inserter(node.cpus));
    std::set_difference(left.begin(), left.end(), node.cpus.begin(), node.cpus.end(),
                        std::back_inserter(others));
    left = std::move(others);
    if (!node.cpus.empty()) nodes.push_back(std::move(node));
  }
  // Kernels without NUMA report no node, and a CPU that no node names is still a CPU.
  if (!left.empty()) {
    if (nodes.empty()) nodes.emplace_back();
    std::vector<int>& first = nodes.front().cpus;
    first.insert(first.end(), left.begin(), left.end());
    std::sort(first.begin(), first.end());
  }
  return nodes;
}

void keep_first(std::vector<NumaNode>& nodes, std::int64_t count) {
  for (NumaNode& node : nodes) {
    const auto kept = std::min(static_cast<std::int64_t>(node.cpus.size()), count);
    node.cpus.resize(static_cast<std::size_t>(kept));
    count -= kept;
  }
  std::erase_if(nodes, [](const NumaNode& node) { return node.cpus.empty(); });
}

std::string own_hostname() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

int Machine::cpu_count() const {
  std::size_t count = 0;
  for (const NumaNode& node : numa) count += node.cpus.size();
  return static_cast<int>(count);
}

Result<Machine> detect_machine(const MachineOptions& options) {
  const std::string& root = options.root;
  std::vector<int> usable;
  if (options.affinity) {
    usable = *options.affinity;
  } else {
    TRY_ASSIGN(usable, own_affinity());
  }
  TRY_ASSIGN(const std::vector<int> online,
             read_cpu_list(read_word(root + "/sys/devices/system/cpu/online")));
  if (!online.empty()) {
    std::erase_if(usable,
                  [&](int cpu) { return !std::binary_search(online.begin(), online.end(), cpu); });
  }
  if (usable.empty()) return Error{Code::FailedPrecondition, "no CPU is left for this process"};

  Machine machine{.hostname = own_hostname()};
  TRY_ASSIGN(machine.numa, numa_nodes(root, usable));
  TRY_ASSIGN(machine.memory_bytes, memory_total(root));
  std::int64_t quota = std::numeric_limits<std::int64_t>::max();
  for (const Hierarchy& hierarchy : own_cgroups(root)) {
    for (const std::string& directory : hierarchy.directories) {
      quota = std::min(quota, quota_of(hierarchy, directory).value_or(quota));
      machine.memory_bytes =
          std::min(machine.memory_bytes,
                   memory_limit_of(hierarchy, directory).value_or(machine.memory_bytes));
    }
  }
  keep_first(machine.numa, std::max<std::int64_t>(1, quota / 1000));
  if (options.gpus_declared) {
    machine.gpus = declared_gpus(*options.gpus_declared);
  } else {
    TRY_ASSIGN(machine.gpus, detect_gpus(options.nvml));
  }
  return machine;
}

}  // namespace orrery
