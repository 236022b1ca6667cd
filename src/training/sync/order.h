#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "training/sync/conductor_state.h"
#include "training/sync/task.h"

namespace orrery {

// What the conductor wants done. Orders are carried out in this sequence wherever they meet.
struct StartTask {
  Task task{};  // its parameters are those that all Apply before it have made
};
// In all-reduce the whole ring carries it out: a member without a term in it adds nothing.
struct ApplyUpdate {
  Update update{};
  std::vector<Task> tasks{};  // of the terms, in their order
  ConductorState state{};     // where the run stands after it, if the options ask for it
};
struct CutTask {
  std::int64_t task = 0;  // hand in what is done; if it is on its way, nothing changes
  WorkerId worker{};
};
struct DropGradient {
  std::int64_t task = 0;
  std::string reason{};
};
// All-reduce: from now on this is the ring and these hang off it; a new member gets the parameters
// of the others. Epochs grow.
struct FormRing {
  std::int64_t epoch = 0;
  std::vector<WorkerId> ring{};
  std::vector<std::pair<WorkerId, WorkerId>> parents{};
};
// Parameter servers: children hand in at their parents from their next task on. A child whose
// parent is gone hands in what it has by itself.
struct FormTree {
  std::vector<std::pair<WorkerId, WorkerId>> parents{};
};
// Zeno++: a validation gradient of the newest version, when it is done.
struct RefreshValidation {};
struct EvaluateVersion {
  ParameterVersion version = 0;
  ConductorState state{};  // where the run stands at that version
};
struct SaveCheckpoint {
  ParameterVersion version = 0;
};
// A worker that was retired has nothing left to do.
struct DismissWorker {
  WorkerId worker{};
};
struct FinishRun {
  std::string reason{};
  bool failed = false;  // training has come apart; there is no checkpoint of that
};
using Order =
    std::variant<StartTask, ApplyUpdate, CutTask, DropGradient, FormRing, FormTree,
                 RefreshValidation, EvaluateVersion, SaveCheckpoint, DismissWorker, FinishRun>;

}  // namespace orrery
