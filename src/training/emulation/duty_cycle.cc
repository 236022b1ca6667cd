#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>

#include "training/emulation/cpu_limits.h"
#include "training/emulation/owner.h"
#include "training/emulation/process_clock.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(2);
constexpr double kPeriodS = 0.01;  // a server may save up what this long brings it
constexpr std::string_view kNote = "orrery-stopped-";

double longest_wait_s(std::vector<ProcessClock>& processes) {
  double waited_s = 0;
  for (ProcessClock& process : processes) waited_s = std::max(waited_s, process.waited_s());
  return waited_s;
}

struct Server {
  double cores = 0;
  std::vector<ProcessClock> processes{};
  double credit_s = 0;
  double used_s = 0;
  double throttled_s = 0;
  bool stopped = false;

  double cpu_s() {
    double sum = 0;
    for (ProcessClock& process : processes) sum += process.cpu_s();
    return sum;
  }
  void signal(int number) const {
    for (const ProcessClock& process : processes) process.signal(number);
  }

  void go_on(double passed_s) {
    const double now_s = cpu_s();
    credit_s += cores * passed_s - (now_s - used_s);
    credit_s = std::min(credit_s, cores * kPeriodS);
    used_s = now_s;
    if (stopped) throttled_s += passed_s;
    if (const bool stop = credit_s <= 0; stop != stopped) {
      stopped = stop;
      signal(stop ? SIGSTOP : SIGCONT);
    }
  }
};

class DutyCycle final : public CpuLimits {
 public:
  DutyCycle(std::string note, const std::vector<double>& cores) : note_(std::move(note)) {
    for (const double share : cores) {
      servers_.push_back({.cores = share, .credit_s = share * kPeriodS});
    }
    thread_ = std::thread([this] { keep_on(); });
  }

  ~DutyCycle() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
    for (const Server& server : servers_) {
      if (server.stopped) server.signal(SIGCONT);
    }
    ::unlink(note_.c_str());
  }

  std::string means() const override { return "duty-cycle"; }

  Status add(int server, pid_t pid) override {
    TRY_ASSIGN(ProcessClock process, ProcessClock::open(pid));
    const std::lock_guard lock(mutex_);
    Server& to = at(server);
    to.used_s += process.cpu_s();
    if (to.stopped) process.signal(SIGSTOP);
    to.processes.push_back(std::move(process));
    Status noted = write_note();
    changed_.notify_all();
    return noted;
  }

  Status set(int server, double cores) override {
    const std::lock_guard lock(mutex_);
    at(server).cores = cores;
    return {};
  }

  Result<CpuUse> use(int server) override {
    const std::lock_guard lock(mutex_);
    Server& of = at(server);
    return CpuUse{.cpu_s = of.cpu_s(), .throttled_s = of.throttled_s};
  }

  Result<double> starved_s(int server) override {
    const std::lock_guard lock(mutex_);
    return longest_wait_s(at(server).processes);
  }

 private:
  Server& at(int server) { return servers_[static_cast<std::size_t>(server)]; }

  bool has_processes() const {
    return std::any_of(servers_.begin(), servers_.end(),
                       [](const Server& server) { return !server.processes.empty(); });
  }

  Status write_note() const {
    std::string lines;
    for (const Server& server : servers_) {
      for (const ProcessClock& process : server.processes) {
        const auto start = start_while_alive(process.pid());
        if (start) lines += std::to_string(process.pid()) + " " + std::to_string(*start) + "\n";
      }
    }
    return write_file_atomically(note_, lines);
  }

  void keep_on() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
      changed_.wait(lock, [this] { return ending_ || has_processes(); });
      auto last = Clock::now();
      while (!ending_ && has_processes()) {
        changed_.wait_for(lock, kTick, [this] { return ending_; });
        const auto now = Clock::now();
        const double passed_s = std::chrono::duration<double>(now - last).count();
        last = now;
        for (Server& server : servers_) server.go_on(passed_s);
      }
    }
  }

  std::string note_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<Server> servers_{};
  bool ending_ = false;
  std::thread thread_{};
};

class NoCpuLimits final : public CpuLimits {
 public:
  explicit NoCpuLimits(int servers) : processes_(static_cast<std::size_t>(servers)) {}

  std::string means() const override { return "none"; }
  Status add(int server, pid_t pid) override {
    TRY_ASSIGN(ProcessClock process, ProcessClock::open(pid));
    const std::lock_guard lock(mutex_);
    processes_[static_cast<std::size_t>(server)].push_back(std::move(process));
    return {};
  }
  Status set(int, double) override {
    return Error{Code::FailedPrecondition,
                 "servers have no CPU limit here, so it cannot be changed; leave --limit-cpu away"};
  }
  Result<CpuUse> use(int server) override {
    const std::lock_guard lock(mutex_);
    CpuUse use;
    for (ProcessClock& process : processes_[static_cast<std::size_t>(server)]) {
      use.cpu_s += process.cpu_s();
    }
    return use;
  }
  Result<double> starved_s(int server) override {
    const std::lock_guard lock(mutex_);
    return longest_wait_s(processes_[static_cast<std::size_t>(server)]);
  }

 private:
  std::mutex mutex_{};
  std::vector<std::vector<ProcessClock>> processes_;
};

}  // namespace

Result<std::unique_ptr<CpuLimits>> make_duty_cycle(const std::string& folder,
                                                   const std::string& tag,
                                                   const std::vector<double>& cores) {
  return std::unique_ptr<CpuLimits>(
      std::make_unique<DutyCycle>(folder + "/" + std::string(kNote) + tag, cores));
}

void remove_left_duty_cycles(const std::string& folder) {
  std::error_code failed;
  for (const auto& found : fs::directory_iterator(folder, failed)) {
    const std::string name = found.path().filename();
    if (!name.starts_with(kNote)) continue;
    const std::string tag = name.substr(kNote.size());
    struct stat facts {};
    // Only a note of our own is believed.
    const bool own = ::lstat(found.path().c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                     facts.st_uid == ::geteuid();
    if (!own || !is_owner_tag(tag) || owner_runs(tag)) continue;
    std::istringstream lines(read_word(found.path()));
    std::uint64_t start = 0;
    for (pid_t pid = 0; lines >> pid >> start;) {
      if (pid > 0 && start_while_alive(pid) == start) ::kill(pid, SIGKILL);
    }
    ::unlink(found.path().c_str());
  }
}

std::unique_ptr<CpuLimits> make_no_cpu_limits(int servers) {
  return std::make_unique<NoCpuLimits>(servers);
}

}  // namespace orrery
