#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "training/mode_selection/scoring/ring_costs.h"
#include "training/mode_selection/scoring/score.h"
#include "training/mode_selection/stragglers/iteration_book.h"
#include "training/mode_selection/stragglers/plain_slow.h"
#include "training/mode_selection/stragglers/predictor_race.h"
#include "training/mode_selection/stragglers/straggler.h"

namespace orrery {

struct IterationForecastOptions {
  int horizon = 8;  // iterations over which times are predicted
  StragglerOptions straggler{};
  PlainSlowOptions plain{};
};

// From iterations to what each worker's next ones will take, and which workers straggle. predict()
// and predict_first() work out what the accessors below them return.
class IterationForecast {
 public:
  // `predictors` run against the three built in.
  IterationForecast(const IterationForecastOptions& options,
                    std::vector<std::unique_ptr<IterationPredictor>> predictors);

  void add(const IterationSample& sample, const Mode& present);
  void add(const UpdateSample& update);
  void ring_formed() { ring_.formed(); }
  // These are here, ascending; of others everything is forgotten.
  void keep_only(std::span<const WorkerId> workers, Architecture architecture);
  // At a tick: finds workers that hang. In all-reduce nothing can be done about them before their
  // tasks have ended, since the mode changes while no member of the ring computes.
  void look_at(std::span<const TaskUnderWay> under_way);

  bool has_seen(int tasks) const;  // that many of every worker
  const RingCosts& ring() const { return ring_; }
  bool any_worker_hangs() const { return !hanging_.empty(); }

  // What each will need, where a predictor does it better than persistence.
  void predict(const Situation& situation, const Mode& present);
  // The same from the first task or two, and from those under way: only workers that are slow
  // beyond doubt show. False if none is; then nothing changes.
  bool predict_first(const Situation& situation, const Mode& present);

  std::span<const WorkerTime> times() const { return times_; }  // at equal batches
  std::span<const ScoreWorker> workers() const { return workers_; }
  std::span<const WorkerId> stragglers() const { return watch_.stragglers(); }
  double jitter() const { return jitter_; }  // deviation of single tasks, share of their time
  double compute_share() const { return compute_share_; }
  double message_s() const { return message_s_; }  // of a sum, with a member of usual speed
  std::vector<RaceStanding> predictors() const { return race_->standings(); }

 private:
  double predicted_factor(const WorkerRecord& record);
  double equal_batch(const Situation& situation) const;
  void count_messages(const Situation& situation, const Mode& present);

  const IterationForecastOptions options_;
  bool all_reduce_ = false;
  std::size_t members_ = 0;
  IterationBook book_{};
  std::unique_ptr<PredictorRace> race_;
  RingCosts ring_{};
  StragglerWatch watch_;
  std::vector<std::pair<WorkerId, double>> hanging_{};  // and for how long, at the last tick

  std::vector<WorkerTime> times_{};
  std::vector<ScoreWorker> workers_{};
  double jitter_ = 0, compute_share_ = 1, message_s_ = 0;
};

}  // namespace orrery
