#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/decisions/replacement.h"
#include "cloud/discrete_events/discrete_event_provider.h"
#include "cloud/training_model/training_speeds.h"

namespace orrery {

// What the loss of the chief does.
enum class ChiefLoss : std::uint8_t {
  TakeOver,  // another worker is chief; nothing is lost, since parameter servers hold the state
  Restart,   // as plain TensorFlow: a new chief goes on from the newest checkpoint
  Stop,      // as the released code of 2019: the cluster is stopped and the job has failed
};

struct CheckpointRule {
  Duration save{};                  // the chief does not train meanwhile; 0: no checkpoints
  std::optional<Duration> every{};  // nothing: by hazard and save time
  bool on_notice = true;
};

// A training job and its cluster.
struct TransientTraining {
  std::string job = "job";
  double steps = 0;
  std::vector<Offer> workers;              // the first is the chief
  std::vector<Offer> parameter_servers{};  // none: one worker trains alone
  TrainingSpeeds speeds{};
  ReplacementRule replacement = ReplacementRule::GoOn;
  std::vector<Offer> replacements{};  // what may be asked for
  ChiefLoss chief_loss = ChiefLoss::TakeOver;
  CheckpointRule checkpoints{};
  std::function<const Lifetime&(const Offer&)> lifetime_of;  // what decisions expect
  Duration startup{};                                        // what decisions expect
  Duration join{};                                           // from running to the first step
  double usd_per_hour_of_time = 0;
  Duration horizon = std::chrono::hours(24 * 30);  // a job that takes longer has failed
};

struct TransientOutcome {
  bool finished = false;
  std::string end;     // "completed", "chief-lost", "no-workers", "horizon"
  double wait_s = 0;   // from the first request to the first step
  double train_s = 0;  // from the first step to the end
  double usd = 0;      // of all servers, from request to end
  double steps = 0;
  int losses = 0;  // of workers, the chief among them, and parameter servers
  int replacements = 0;
  int refused = 0;  // requests without capacity
  int checkpoints = 0;
  int roll_backs = 0;
  double steps_lost = 0;
};

// Runs the job on the provider, whose clock goes on to the end of the job, and stops its servers.
// InvalidArgument: the provider does not have an offer, or no worker makes progress.
Result<TransientOutcome> run_training(const TransientTraining& training,
                                      DiscreteEventProvider& provider);

std::string_view text_of(ChiefLoss loss);
std::optional<ChiefLoss> chief_loss_of(std::string_view word);

}  // namespace orrery
