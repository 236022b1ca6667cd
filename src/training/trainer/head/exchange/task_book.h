#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "training/sync/order.h"
#include "training/trainer/head/emulated/server_emulation.h"
#include "training/trainer/head/membership/run_members.h"
#include "training/trainer/head/run_context.h"
#include "training/trainer/head/session/training_session.h"

namespace orrery {

// A task that a worker computes, until its gradient is complete.
struct RunningTask {
  Task task{};
  Time started{};
  int parent = -1;  // the worker that sends it its parameters; -1: the shards do
  int pieces = 0;   // of the gradient that have arrived
  bool done = false;
  std::string fault{};
  Gradient gradient{};
  double norm2 = 0, dot_validation = 0, norm2_validation = 0;
  ServerUse before{};  // of its worker's server, when it began
};

// The tasks that are computed. A gradient is complete when its worker has described it and all its
// pieces have arrived where updates are made; the Conductor gets it then.
class TaskBook {
 public:
  TaskBook(RunContext& run, TrainingSession& session, RunMembers& members,
           ServerEmulation& emulation)
      : run_(run), session_(session), members_(members), emulation_(emulation) {}

  RunningTask& open(const Task& task);
  RunningTask* find(std::int64_t task);
  std::map<std::int64_t, RunningTask>& all() { return open_; }
  void described(MessageFrame& frame);
  // `fault`: why the piece cannot be used whatever it says; empty: it can.
  void piece_came(MessageFrame& frame, const std::string& fault);
  // True if the task is complete now. It is then taken out and given to the Conductor.
  bool complete(std::int64_t task, int pieces_needed);
  void drop(std::int64_t task);
  std::int64_t samples_of(std::span<const Term> terms) const;
  void forget_samples(std::span<const Term> terms);
  void clear();

 private:
  void give(RunningTask task);
  void add_usage(const RunningTask& task, Gradient& gradient);

  RunContext& run_;
  TrainingSession& session_;
  RunMembers& members_;
  ServerEmulation& emulation_;
  std::map<std::int64_t, RunningTask> open_{};
  std::map<std::int64_t, std::int32_t> samples_{};  // of gradients that are complete
};

ApplyMessage apply_message(const ApplyUpdate& order);

}  // namespace orrery
