#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "training/sync/task.h"
#include "training/twin/quota_cpu.h"
#include "training/twin/share_line.h"

namespace orrery {

// Where a worker of the twin stands with the task it has.
struct TwinWorkerState {
  enum class Stage { Idle, Fetching, Computing, Done, Sending, AtParent };

  TwinWorkerState(const StragglerScript& script, int server, std::uint64_t seed)
      : cpu(script, server, ServerResource::Cpu),
        link(script, server, ServerResource::Bandwidth),
        random(seed) {}
  ShareLine cpu, link;
  Random random;
  std::optional<QuotaCpu> quota{};
  double exchange_s = 0;
  Stage stage = Stage::Idle;
  Task task{};
  Time started{}, compute_from{}, computed_at{};
  double cpu_share = 1, link_share = 1;  // by limits, beside the script
  double done_s = 0;                     // of its work, before compute_from
  double task_s = 0;                     // that its last task took, waiting left out
  double work_s = 0;                     // of CPU, for the task it has
  std::int32_t samples = 0;              // done, once it is sent
  int parent = -1;                       // in a ring or tree
  int sends_to = -1;                     // the parent it had when it got its task
};

}  // namespace orrery
