#pragma once

#include <map>
#include <string>
#include <vector>

#include "cloud/gce/compute_api.h"
#include "cloud/gce/removal.h"
#include "cloud/gce/requests.h"

namespace orrery {

struct GceWaits {
  Duration operation = std::chrono::minutes(10);  // for the end of one
  Duration removal = std::chrono::minutes(2);     // for the clean-up after a failed creation
};

// What one call for a group came to.
struct GroupOutcome {
  std::vector<GceInstance> made{};
  std::optional<Error> error{};  // why less than all
  // True if the service may have heard of the request. Its identity is then used up.
  bool perhaps_heard = false;
  bool settled = true;  // False if the request may make, or have made, more than `made`
};

// Makes groups of servers. All of the answer is known when it returns, or condemned.
class Creation {
 public:
  Creation(ComputeApi& api, const GceMachines& machines, const GceWaits& waits)
      : api_(api), machines_(machines), waits_(waits) {}

  GroupOutcome make(const BulkGroup& group);

 private:
  Result<std::string> image();
  Result<GceOperation> finished(std::string_view zone, GceOperation operation);
  Result<std::vector<GceInstance>> made_by(const BulkGroup& group);

  ComputeApi& api_;
  GceMachines machines_;
  GceWaits waits_;
  std::string image_link_{};
};

}  // namespace orrery
