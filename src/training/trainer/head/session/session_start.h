#pragma once

#include <optional>
#include <string>
#include <vector>

#include "training/trainer/head/emulated/server_emulation.h"
#include "training/trainer/head/exchange/parameter_exchange.h"
#include "training/trainer/head/membership/run_members.h"
#include "training/trainer/head/run_context.h"
#include "training/trainer/head/session/take_over.h"
#include "training/trainer/head/session/training_session.h"
#include "training/trainer/transport/host.h"

namespace orrery {

// Begins a session: makes its Conductor, brings the processes up in the order in which they need
// each other (evaluator, shards, workers), and starts training when enough workers have joined.
class SessionStart {
 public:
  SessionStart(RunContext& run, TrainingSession& session, RunMembers& members,
               ServerEmulation& emulation, ParameterExchange& exchange)
      : run_(run),
        session_(session),
        members_(members),
        emulation_(emulation),
        exchange_(exchange) {}

  // `workers_first`: training begins when that many have joined. `workers_own`: of these, how many
  // this head starts.
  Status begin(const Checkpoint* from, int workers_first, int workers_own);
  std::string setup_for(const PartState& part, const Host& host, const MeetingPlace* meeting) const;
  // A part has loaded what it needs. An error concerns that part alone.
  Status part_ready(PartState& part, MessageFrame& frame);
  void worker_joined(PartState& worker);

 private:
  Status make_conductor();
  void settle();  // a run with members: from what its shards hold, or from a checkpoint
  void go_on(PartState& shard, const std::vector<ApplyMessage>& missing);
  void evaluator_ready(const ReadyMessage& ready, MessageFrame& frame);
  void admit_if_ready();
  void admit(PartState& worker);
  void send_state(PartState& part, const ShardPlace& place);
  void begin_training();

  RunContext& run_;
  TrainingSession& session_;
  RunMembers& members_;
  ServerEmulation& emulation_;
  ParameterExchange& exchange_;
  int workers_first_ = 0;
  std::optional<TakeOver> take_over_{};
};

}  // namespace orrery
