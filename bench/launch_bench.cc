// How many empty jobs (/bin/true) a second one agent starts, sees end and forgets, with that many
// at a time, and what that costs in CPU time of the agent, the supervisors and the jobs together.
// `whole_program` is supervised by this program, which links as much as `orrery` does; `small` by
// orrery-job. `spawn_alone` is what /bin/true takes without any of it. State is kept in the folder
// ORRERY_BENCH_DIR names, or else in the current one.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "live/agent/local_processes.h"
#include "live/agent/node_agent.h"
#include "live/job_runner/supervisor.h"

extern char** environ;

namespace orrery {
namespace {

constexpr Duration kLease = std::chrono::seconds(60);

double cpu_seconds() {
  double sum = 0;
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(whose, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
    }
  }
  return sum;
}

void spawn_alone(benchmark::State& state) {
  const double before = cpu_seconds();
  for (auto _ : state) {
    char program[] = "/bin/true";
    char* argv[] = {program, nullptr};
    pid_t pid = 0;
    posix_spawn(&pid, program, nullptr, nullptr, argv, environ);
    waitpid(pid, nullptr, 0);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["cpu_ms_a_job"] =
      1e3 * (cpu_seconds() - before) / static_cast<double>(state.iterations());
}

// A scheduler that always wants `width` jobs on the node, each on a GPU of its own.
class Stream {
 public:
  Stream(NodeAgent& agent, LocalProcesses& processes, int width)
      : agent_(agent), processes_(processes) {
    for (int i = 0; i < width; ++i) wanted_.push_back(next(std::uint64_t{1} << i));
  }

  // Until that many jobs have ended, and are known to.
  void run(std::int64_t jobs) {
    while (ended_ < jobs) {
      const Duration now = boot_time();
      agent_.tick(now);
      if (const auto report = agent_.next_report(now)) {
        answer(*report);
        continue;
      }
      pollfd waited{.fd = processes_.fd(), .events = POLLIN, .revents = 0};
      ::poll(&waited, 1, 1000);
    }
  }

 private:
  Assignment next(std::uint64_t gpus) {
    return {.name = {.job = ++job_}, .argv = {"/bin/true"}, .gpus = gpus};
  }
  void answer(const Report& report) {
    Orders orders{.instance = "bench",
                  .session = 1,
                  .term = 1,
                  .number = ++number_,
                  .report = report.number,
                  .lease = kLease};
    for (const LaunchReport& launch : report.launches) {
      if (launch.state != LaunchState::Ended) continue;
      orders.forget.push_back(launch.name);
      for (Assignment& wanted : wanted_) {
        if (wanted.name != launch.name) continue;
        ++ended_;
        wanted = next(wanted.gpus);
      }
    }
    orders.assignments = wanted_;
    agent_.on_orders(orders, boot_time());
  }

  NodeAgent& agent_;
  LocalProcesses& processes_;
  std::vector<Assignment> wanted_{};
  JobNumber job_ = 0;
  std::int64_t number_ = 0;
  std::int64_t ended_ = 0;
};

// How many jobs it were.
std::int64_t run_stream(benchmark::State& state, LocalProcesses& processes) {
  const int width = static_cast<int>(state.range(0));
  NodeAgent agent({.instance = "bench", .machine = {.gpus = declared_gpus(width)}}, processes,
                  boot_time());
  if (!agent.adopt().ok()) state.SkipWithError("cannot adopt");
  Stream jobs(agent, processes, width);
  std::int64_t done = 0;
  for (auto _ : state) jobs.run(done += 100);
  agent.leave(boot_time());
  while (!agent.has_left()) {
    agent.tick(boot_time());
    static_cast<void>(agent.next_report(boot_time()));
  }
  return done;
}

void stream(benchmark::State& state, const std::string& program) {
  const char* given = std::getenv("ORRERY_BENCH_DIR");
  const std::string folder =
      std::filesystem::absolute(std::string(given != nullptr ? given : ".") + "/launch_bench");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  auto opened = LocalProcesses::open(folder, folder, program);
  if (!opened.ok()) return state.SkipWithError(opened.error().message.c_str());
  std::unique_ptr<LocalProcesses> processes = std::move(opened).value();
  const double before = cpu_seconds();
  const std::int64_t done = run_stream(state, *processes);
  processes.reset();  // the process that forks supervisors counts once it has ended
  state.SetItemsProcessed(done);
  state.counters["cpu_ms_a_job"] = 1e3 * (cpu_seconds() - before) / static_cast<double>(done);
  std::filesystem::remove_all(folder, ignored);
}

BENCHMARK(spawn_alone)->UseRealTime();
BENCHMARK_CAPTURE(stream, whole_program, "/proc/self/exe")
    ->Arg(1)
    ->Arg(4)
    ->Arg(32)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stream, small, ORRERY_JOB)
    ->Arg(1)
    ->Arg(4)
    ->Arg(32)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
  if (const auto code = orrery::supervise_if_asked(argc, argv)) return *code;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
