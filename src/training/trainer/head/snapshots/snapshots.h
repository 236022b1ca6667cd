#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "training/trainer/checkpoint/best_keeper.h"
#include "training/trainer/head/exchange/parameter_exchange.h"
#include "training/trainer/head/failure_reports.h"
#include "training/trainer/head/membership/run_members.h"
#include "training/trainer/head/run_context.h"
#include "training/trainer/head/session/training_session.h"

namespace orrery {

// Fetches the parameters of a version, to save them in a checkpoint, to have them evaluated, or to
// get a validation gradient.
class Snapshots {
 public:
  // `done` is called when nothing is under way any more.
  Snapshots(RunContext& run, TrainingSession& session, RunMembers& members,
            ParameterExchange& exchange, std::function<void()> done);

  void save(ParameterVersion version);
  void evaluate(const EvaluateVersion& order);
  void refresh_validation();

  void came(PartRole role, int id, MessageFrame& frame);
  void evaluated(MessageFrame& frame);
  void validated(MessageFrame& frame);
  void send_evaluations();  // to an evaluator that is new
  void evaluator_lost() { validating_ = false; }
  void ask_others(int lost);  // in place of a worker that is gone

  bool busy() const;
  void clear();
  BestKeeper& best() { return best_; }

 private:
  enum class Use { Evaluate, Validate, Save };
  // Parameters that are on their way.
  struct ParameterSnapshot {
    Use use{};
    ParameterVersion version = 0;
    Time at{};
    std::int64_t samples = 0;
    ConductorState state{};
    std::set<int> missing{};  // shards or members of the ring
    double batches = 0;
    std::uint64_t hash = 0;
    std::vector<float> parameters{}, optimizer_state{};
  };
  struct PendingEvaluation {
    ParameterVersion version = 0;
    Time at{};
    std::int64_t samples = 0;
    ConductorState state{};
    std::shared_ptr<std::vector<float>> parameters{};
  };

  void ask(ParameterSnapshot snapshot);
  bool agrees(const SnapshotMessage& message, ParameterSnapshot& snapshot);
  bool take_floats(const PartState& from, std::span<const float> floats,
                   ParameterSnapshot& snapshot);
  void use(ParameterSnapshot& snapshot);
  void write(ParameterSnapshot& snapshot);
  void send_evaluation(std::int64_t number);
  void keep_if_best(const PendingEvaluation& pending, const EvaluatedVersion& judged);
  Checkpoint checkpoint_at(const ConductorState& state, Time at) const;
  void saved(const Status& status, const Checkpoint& checkpoint);
  // Training goes on after a failure; the file before is still there.
  void note(FailureReports& reports, const Status& written);

  RunContext& run_;
  TrainingSession& session_;
  RunMembers& members_;
  ParameterExchange& exchange_;
  const std::function<void()> done_;
  BestKeeper best_;
  FailureReports saves_{"checkpoints"};
  FailureReports best_writes_{"best models"};
  std::map<std::int64_t, ParameterSnapshot> snapshots_{};
  std::map<std::int64_t, PendingEvaluation> evaluations_{};
  std::int64_t next_number_ = 1;
  int saving_ = 0;
  bool validating_ = false;
};

}  // namespace orrery
