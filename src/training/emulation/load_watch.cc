#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "base/files.h"
#include "training/emulation/load_watch.h"
#include "training/emulation/servers.h"

namespace orrery {
namespace {

double timeval_s(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double own_cpu_s() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return timeval_s(use.ru_utime) + timeval_s(use.ru_stime);
}

class ProcLoadWatch final : public LoadWatch {
 public:
  ProcLoadWatch(const Servers& servers, double quota_cores)
      : servers_(servers), tally_(quota_cores, servers.count()) {
    sample();
  }

  void sample() override {
    LoadSample now;
    now.at_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    now.machine_busy_s =
        machine_busy_s(read_word("/proc/stat"), static_cast<double>(::sysconf(_SC_CLK_TCK)));
    now.own_s = own_cpu_s();
    for (int i = 0; i < servers_.count(); ++i) {
      const auto use = servers_.use(i);
      const auto starved = servers_.starved_s(i);
      now.servers.push_back({.cpu_s = use.ok() ? use.value().cpu_s : 0,
                             .starved_s = starved.ok() ? starved.value() : 0,
                             .cores = servers_.size(i).cores});
    }
    tally_.add(now);
  }

  MachineLoad load() const override {
    return tally_.load(static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
  }

 private:
  const Servers& servers_;
  LoadTally tally_;
};

}  // namespace

double machine_busy_s(const std::string& proc_stat, double ticks_per_s) {
  std::istringstream line(proc_stat);
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft = 0, stolen = 0;
  line >> name >> user >> nice >> system >> idle >> waiting >> irq >> soft >> stolen;
  return (user + nice + system + irq + soft + stolen) / ticks_per_s;
}

void LoadTally::add(const LoadSample& now) {
  if (!last_) {
    last_ = now;
    return;
  }
  const double passed = now.at_s - last_->at_s;
  if (passed <= 0) return;
  double ours = 0, starved = 0;
  for (std::size_t i = 0; i < now.servers.size(); ++i) {
    const double used = std::max(0.0, now.servers[i].cpu_s - last_->servers[i].cpu_s);
    ours += used;
    starved += std::clamp(now.servers[i].starved_s - last_->servers[i].starved_s, 0.0, passed);
    used_s_[i] += used;
    quota_s_[i] += now.servers[i].cores * passed;
  }
  const double own = now.own_s - last_->own_s;
  const double others = std::max(0.0, now.machine_busy_s - last_->machine_busy_s - ours - own);
  watched_s_ += passed;
  own_s_ += own;
  others_s_ += others;
  starved_s_ += starved;
  spans_.push_back({passed, (others + own) / passed});
  last_ = now;
}

MachineLoad LoadTally::load(double cores) const {
  // Clock ticks, and the moments that pass between one reading and the next.
  constexpr double kMargin = 0.02, kOverfullMost = 0.05, kStarvedMost = 0.1, kExcessMost = 0.1;
  MachineLoad load{.cores = cores};
  if (watched_s_ <= 0) {
    load.why = "nothing was watched yet";
    return load;
  }
  load.others = others_s_ / watched_s_;
  load.own = own_s_ / watched_s_;
  load.starved =
      used_s_.empty() ? 0 : starved_s_ / watched_s_ / static_cast<double>(used_s_.size());
  for (const auto& [passed, beside] : spans_) {
    if (quota_cores_ + beside > cores * (1 + kMargin)) load.overfull += passed / watched_s_;
  }
  for (std::size_t i = 0; i < used_s_.size(); ++i) {
    if (quota_s_[i] > 0) load.excess = std::max(load.excess, used_s_[i] / quota_s_[i] - 1);
  }
  if (quota_cores_ > cores * (1 + kMargin)) {
    load.why = fmt::format("the servers' quotas are {:.2f} cores, and the machine has {:.0f}",
                           quota_cores_, cores);
  } else if (load.overfull > kOverfullMost) {
    load.why = fmt::format("others used {:.2f} cores: the quotas did not fit {:.0f} % of the time",
                           load.others, 100 * load.overfull);
  } else if (load.starved > kStarvedMost) {
    load.why = fmt::format("servers waited for a core {:.0f} % of the time", 100 * load.starved);
  } else if (load.excess > kExcessMost) {
    load.why = fmt::format("a server got {:.0f} % more than its quota", 100 * load.excess);
  }
  load.trusted = load.why.empty();
  return load;
}

std::unique_ptr<LoadWatch> watch_load(const Servers& servers, double quota_cores) {
  return std::make_unique<ProcLoadWatch>(servers, quota_cores);
}

}  // namespace orrery
