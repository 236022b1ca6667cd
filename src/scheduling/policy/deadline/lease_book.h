#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/ids.h"
#include "scheduling/policy/deadline/leases.h"

namespace orrery {

// Which job has reserved which leases. Leases are counted from the beginning of time.
class LeaseBook {
 public:
  struct Claim {
    JobId job = kNoJob;
    int gpus = 0;
    int end = 0;  // all its leases are before this one
    Leases leases{};
    bool runs = false;  // holds GPUs now
  };

  void set_gpus(int gpus) { gpus_ = gpus; }

  // Reserves `needed` leases from `from` on: the latest that others have left or, if they are too
  // few, what arranging all jobs again brings. False: it cannot be done, and nothing has changed.
  bool reserve(Claim claim, int needed, int from);
  void drop(JobId job);
  const Claim* find(JobId job) const;

  // Before lease `now` begins. Leases that went by are gone, and those a job does not need any more
  // go back, the earliest first; it never needs more than it has. A job with none left loses its
  // claim and is named in `used_up`.
  void settle(int now, const std::function<int(JobId)>& needed,
              const std::function<bool(JobId)>& runs, std::vector<JobId>& used_up);

  // Gives lease `now` away, to as many or as few as wanted, and names its holders.
  void begin(int now, FirstLease wanted, std::vector<JobId>& holders);

 private:
  bool add_to_reserved(Claim& claim, int needed, int from) const;
  void collect_demands(int from);
  void enter(const std::vector<Leases>& packed, int from);
  bool only_forced_ones_begin(int now) const;

  int gpus_ = 0;
  std::vector<Claim> claims_;
  std::vector<LeaseDemand> demands_;
};

}  // namespace orrery
