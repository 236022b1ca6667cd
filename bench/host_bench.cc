// How close each allocator of CPUs and memory comes to the bound that host_bound() states: the sum
// over rounds of the jobs' speeds times their GPUs, over the same sum of the bounds for the jobs
// that ran. For `opt` also what it comes to if no job has to stay where it is, and the CPU time
// that takes, in the median and at worst. Set ORRERY_DATA to the folder that holds synergy/.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>
#include <string>

#include "scheduling/policy/host/host_needs.h"
#include "scheduling/policy/host/host_opt.h"
#include "scheduling/policy/registry.h"
#include "simulation/kernel/simulation.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

struct Case {
  const char* name;
  const char* trace;
  const char* cluster;
  int drawn;  // jobs of a generator
};

constexpr Case kCases[] = {
    {"static", "static_100job_6_3_1100.0", "static_trace.ini", 0},
    {"dynamic", "dynamic/srtf.log", "static_trace.ini", 0},
    {"load4", "synergy:load=4,gpus=multi", "default_cluster.ini", 800},
    {"load8", "synergy:load=8,gpus=multi", "default_cluster.ini", 800},
};

std::string data_folder() {
  const char* given = std::getenv("ORRERY_DATA");
  return std::string(given != nullptr ? given : ORRERY_SOURCE "/../shared/data") + "/synergy/";
}

// What every round came to, from the events.
class Rounds final : public EventSink {
 public:
  Rounds(const Workload& workload, const Cluster& cluster, bool timed)
      : workload_(workload), cluster_(cluster), timed_(timed), held_(workload.jobs.size()) {
    const ServerSize server = mean_server(cluster);
    for (const JobSpec& spec : workload.jobs) needs_.push_back(host_need(workload, spec, server));
    capacity_ = capacity_in(Ledger(cluster, workload.names));
  }

  void write(const Event& event) override {
    if (event.time != now_) settle();
    now_ = event.time;
    if (event.grant != nullptr) {
      held_[index(event.job)] = {event.grant->cpu_milli, event.grant->memory_bytes};
      running_.insert(event.job);
      changed_ = true;
    } else if (event.kind == EventKind::Paused || event.kind >= EventKind::Completed) {
      changed_ = running_.erase(event.job) > 0 || changed_;
    }
  }

  double of_bound() const { return achieved_ / bound_; }
  double of_bound_together() const { return achieved_ / together_; }
  double rebuilt_of_bound_together() const { return rebuilt_ / together_; }
  int rounds() const { return rounds_; }
  double ms_at(double quantile) {
    std::ranges::sort(took_ms_);
    return took_ms_[static_cast<std::size_t>(quantile * static_cast<double>(took_ms_.size() - 1))];
  }

 private:
  void settle() {
    if (!changed_ || running_.empty()) return;
    changed_ = false;
    ++rounds_;
    askers_.clear();
    for (const JobId id : running_) {
      const JobSpec& spec = workload_.jobs[index(id)];
      HostAllocator::Asker asker{
          .job = id, .need = &needs_[index(id)], .gpus = {.gpus = spec.gpus}};
      double speed = 1;
      if (spec.sensitivity != kNoSensitivity) {
        asker.kind = spec.sensitivity;
        asker.sensitivity = &workload_.sensitivities[index(spec.sensitivity)];
        speed = speed_with(*asker.sensitivity, held_[index(id)], spec.gpus);
      }
      achieved_ += speed * spec.gpus;
      askers_.push_back(asker);
    }
    together_ += host_bound(askers_, capacity_).gpu_speed;
    HostCapacity one_server = capacity_;
    one_server.largest = capacity_.total;
    bound_ += host_bound(askers_, one_server).gpu_speed;
    if (timed_) time_opt();
  }

  void time_opt() {
    Ledger ledger(cluster_, workload_.names);
    hosting_.begin(ledger);
    const std::clock_t begin = std::clock();
    opt_->seat(hosting_, askers_, 0);
    took_ms_.push_back(1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    for (const Hosting::Seat& seat : hosting_.seats()) {
      const JobSpec& spec = workload_.jobs[index(seat.job)];
      const bool senses = spec.sensitivity != kNoSensitivity;
      rebuilt_ +=
          spec.gpus * (!senses ? 1
                               : speed_with(workload_.sensitivities[index(spec.sensitivity)],
                                            seat.held(), spec.gpus));
    }
  }

  const Workload& workload_;
  const Cluster& cluster_;
  const bool timed_;
  std::vector<HostNeed> needs_;
  std::vector<HostShare> held_;
  HostCapacity capacity_;
  std::set<JobId> running_;
  std::vector<HostAllocator::Asker> askers_;
  std::unique_ptr<HostAllocator> opt_ = make_opt(HostWeight::Gpus);
  Hosting hosting_;
  Time now_{};
  bool changed_ = false;
  int rounds_ = 0;
  double achieved_ = 0;
  double bound_ = 0;
  double together_ = 0;
  double rebuilt_ = 0;
  std::vector<double> took_ms_;
};

void close_to_the_bound(benchmark::State& state, const Case& which, const std::string& allocator) {
  const bool drawn = which.drawn > 0;
  const auto workload =
      load_workload((drawn ? "" : data_folder()) + which.trace, {.drawn = which.drawn});
  const auto cluster = read_cluster(data_folder() + which.cluster);
  if (!workload.ok() || !cluster.ok()) {
    state.SkipWithError("the trace is not there; set ORRERY_DATA");
    return;
  }
  const SimulationSetup setup{
      .workload = &workload.value(),
      .cluster = &cluster.value(),
      .run = {.policy = {.name = "srtf+" + allocator, .round = std::chrono::minutes(5)}}};
  for (auto unused : state) {
    (void)unused;
    Rounds rounds(workload.value(), cluster.value(), allocator == "opt");
    const auto outcome = simulate(setup, rounds);
    if (!outcome.ok()) return state.SkipWithError(outcome.error().message.c_str());
    state.counters["of_bound"] = rounds.of_bound();
    state.counters["together"] = rounds.of_bound_together();
    state.counters["rounds"] = rounds.rounds();
    if (allocator != "opt") continue;
    state.counters["rebuilt"] = rounds.rebuilt_of_bound_together();
    state.counters["median_ms"] = rounds.ms_at(0.5);
    state.counters["worst_ms"] = rounds.ms_at(1);
  }
}

const bool kRegistered = [] {
  for (const Case& which : kCases) {
    for (const AllocatorInfo& allocator : allocators()) {
      const std::string name(allocator.name);
      benchmark::RegisterBenchmark(
          ("close_to_the_bound/" + std::string(which.name) + "/" + name).c_str(),
          [&which, name](benchmark::State& state) { close_to_the_bound(state, which, name); })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace orrery
