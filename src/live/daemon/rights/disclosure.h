#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "live/api/caller.h"
#include "live/api/job_request.h"
#include "live/store/record.h"

// What of the scheduler's state leaves it, and to which caller. Everything here names what may
// leave. A new field or a new kind of record therefore stays inside until it is added.

namespace orrery {

// How much of a job a caller may see. Each level holds all of the level before it. The table stands
// in docs/threats.md.
enum class Detail : std::uint8_t {
  Outline,  // what decisions depend on: owner, tenant, sizes, times, places, the kind of end
  Shared,   // also the name, for members of the job's tenant
  Whole,    // also command, paths and messages, for the owner, operators and admins
};

struct Viewer {
  Caller caller{};
  std::vector<std::string> tenants{};  // that the caller is a member of

  // Operators and admins.
  bool sees_all() const;
  Detail detail(std::string_view user, std::string_view tenant) const;
  Detail detail(const JobRequest& request) const;
};

// The request as far as `detail` reaches. No level holds the environment: only the agents that
// start a job get it. An outline is enough for the same forecast.
JobRequest disclosed(const JobRequest& request, Detail detail);

// The body of a record: a JSON object. No body holds the environment of a job or the digest of a
// token. A body that operators may see still replays to the same decisions.
std::string disclosed(const Record& record, const Viewer& viewer);

}  // namespace orrery
