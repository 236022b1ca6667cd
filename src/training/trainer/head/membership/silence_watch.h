#pragma once

#include <functional>
#include <memory>
#include <string>

#include "training/trainer/head/membership/run_members.h"
#include "training/trainer/head/pulse_board.h"
#include "training/trainer/head/run_context.h"
#include "training/trainer/head/session/training_session.h"

namespace orrery {

// Notices processes that are there but send no heartbeat: names them, and gives them up after a
// time that depends on what waits for them.
class SilenceWatch {
 public:
  SilenceWatch(RunContext& run, TrainingSession& session, RunMembers& members)
      : run_(run), session_(session), members_(members), board_(run.options.silence_s / 2) {}

  void listen(const std::shared_ptr<Connection>& line) { board_.listen(line); }
  void forget(PartRole role, int id) { board_.forget(role, id); }
  void forget_all() { board_.forget_all(); }
  // Once a second.
  void look(const std::function<void(PartRole, int, const std::string& how)>& lose);

 private:
  double allowed_s(const PartState& part) const;
  void note(const PartState& part, const PulseBoard::Silence& silence, double allowed_s);

  RunContext& run_;
  TrainingSession& session_;
  RunMembers& members_;
  PulseBoard board_;
};

}  // namespace orrery
