#pragma once

#include <utility>

#include "base/result.h"
#include "training/emulation/server_cgroup.h"

namespace orrery {

// A CPU quota of this process alone, until it ends or this object does. Quotas of processes that
// were killed are removed by the next one that takes a quota, and by remove_left_quotas().
class OwnQuota {
 public:
  static Result<OwnQuota> take(double cores);
  OwnQuota(OwnQuota&& other) noexcept
      : cgroup_(std::move(other.cgroup_)), held_(std::exchange(other.held_, false)) {}
  OwnQuota& operator=(OwnQuota&&) = delete;
  ~OwnQuota();

 private:
  explicit OwnQuota(ServerCgroup cgroup) : cgroup_(std::move(cgroup)) {}

  ServerCgroup cgroup_;
  bool held_ = true;
};

void remove_left_quotas();

}  // namespace orrery
