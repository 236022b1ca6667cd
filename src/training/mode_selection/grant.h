#pragma once

#include "training/sync/mode.h"

namespace orrery {

// What a job asks with before it goes into a mode that makes updates more often.
struct GrantRequest {
  Time now{};
  Mode mode{};
  double rate_ratio = 1;  // gradients a second over those of SSGD: what parameter servers work on
  double time_saved = 0;  // share of the time the job still needs
};

// Later: there is no decision yet; ask again with the same mode at the next look.
enum class GrantAnswer { Yes, No, Later };

// Says if this job may use a looser mode, for the cluster, which knows the jobs beside it. It is
// asked before each such switch and gets word when the job is back in SSGD.
class ModeGrant {
 public:
  virtual ~ModeGrant() = default;
  virtual GrantAnswer may(const GrantRequest& request) = 0;
  virtual void given_back(Time now) = 0;
};

}  // namespace orrery
