#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training/emulation/servers.h"

namespace orrery {

// Seconds that all cores of the machine worked, for any process, by the first line of /proc/stat.
// What a host took from us counts, since it was not there for us.
double machine_busy_s(const std::string& proc_stat, double ticks_per_s);

// Readings at one moment; all of them grow.
struct LoadSample {
  struct Server {
    double cpu_s = 0;
    double starved_s = 0;
    double cores = 0;  // its whole quota
  };
  double at_s = 0;
  double machine_busy_s = 0;
  double own_s = 0;
  std::vector<Server> servers{};
};

// Adds readings up to a judgement.
class LoadTally {
 public:
  LoadTally(double quota_cores, int servers)
      : quota_cores_(quota_cores),
        used_s_(static_cast<std::size_t>(servers)),
        quota_s_(static_cast<std::size_t>(servers)) {}

  void add(const LoadSample& now);
  MachineLoad load(double cores) const;

 private:
  double quota_cores_;
  std::optional<LoadSample> last_{};
  double watched_s_ = 0, others_s_ = 0, own_s_ = 0, starved_s_ = 0;
  std::vector<double> used_s_, quota_s_;
  std::vector<std::pair<double, double>> spans_{};  // length; cores used by others and by us
};

}  // namespace orrery
