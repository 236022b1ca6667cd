#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// What parameter servers let through. The speed of n workers is a soft minimum of the sum of their
// own speeds and of the cap: (sum^-p + cap^-p)^(-1/p).
struct ServerCap {
  double cap_1 = 0;  // steps a second with one parameter server
  double cap_2 = 0;  // and with two
  double power = 1;  // p above; the higher, the sharper the bend

  // Without parameter servers there is no cap. Beyond two the cap grows by the power of their
  // number that these two give.
  double cap(int parameter_servers) const;
  double steps_per_s(double sum_of_workers, int parameter_servers) const;
};

// A measured cluster: the sum of its workers' own speeds, and its speed.
struct ClusterSpeedPoint {
  double sum_of_workers = 0;
  int parameter_servers = 0;
  double steps_per_s = 0;
};

// The cap under which the mean relative error is least. Points with one and with two parameter
// servers are needed.
Result<ServerCap> fit_server_cap(std::span<const ClusterSpeedPoint> points);

// Mean of |model / measured - 1| in per cent.
double mean_error_pct(const ServerCap& cap, std::span<const ClusterSpeedPoint> points);

// A step of a worker away from the parameter servers takes longer by the delay of their regions.
struct RegionDelay {
  double near_s = 0;  // between neighbours: us-east and us-central
  double far_s = 0;   // any others
};

// A measured cluster across regions: workers in the parameter servers' region, near and far.
struct CrossRegionPoint {
  double worker_steps_per_s = 0;  // of one worker alone
  int parameter_servers = 1;
  std::array<int, 3> workers{};  // home, near, far
  double steps_per_s = 0;
};

// The delays with the least squared relative error, under a cap that is known.
Result<RegionDelay> fit_region_delay(std::span<const CrossRegionPoint> points,
                                     const ServerCap& cap);
double cross_region_steps_per_s(const RegionDelay& delay, const ServerCap& cap,
                                const CrossRegionPoint& point);

// Where a worker is and what it is.
struct WorkerPlace {
  std::string gpu;   // "K80"
  std::string zone;  // "us-east1-c"
};

// Speed of a cluster of any workers. Fitted by fit_models().
class ClusterSpeed {
 public:
  ClusterSpeed(std::map<std::string, double, std::less<>> worker_steps_per_s, ServerCap cap,
               RegionDelay delay)
      : worker_steps_per_s_(std::move(worker_steps_per_s)), cap_(cap), delay_(delay) {}

  // Of one worker alone in the parameter servers' zone; NotFound lists the known GPUs.
  Result<double> worker_steps_per_s(std::string_view gpu) const;

  // Of all `workers` with parameter servers in `server_zone` (unused if there are none).
  Result<double> steps_per_s(std::span<const WorkerPlace> workers, int parameter_servers,
                             std::string_view server_zone) const;

  const ServerCap& cap() const { return cap_; }
  const RegionDelay& delay() const { return delay_; }

 private:
  std::map<std::string, double, std::less<>> worker_steps_per_s_;
  ServerCap cap_;
  RegionDelay delay_;
};

}  // namespace orrery
