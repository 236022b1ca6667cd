#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "training/mode_selection/grant.h"
#include "training/mode_selection/scoring/loss_guard.h"
#include "training/mode_selection/scoring/loss_window.h"
#include "training/mode_selection/scoring/selector_choice.h"
#include "training/mode_selection/scoring/staleness_cost.h"
#include "training/mode_selection/stragglers/plain_slow.h"
#include "training/mode_selection/stragglers/predictor_race.h"
#include "training/mode_selection/stragglers/straggler.h"
#include "training/sync/director.h"

namespace orrery {

struct StarOptions {
  double batch_least = 1;  // samples of a task
  int blocks = 1;          // of a task

  // A look is what decides: not more often than both of these, counted in global batches and time.
  double look_rounds = 1;
  Duration look_least = std::chrono::milliseconds(200);
  Duration score_least = std::chrono::seconds(1);  // and all modes are scored no more often
  int tasks_least = 4;                             // of every worker, before the first look,
  int tasks_slow = 2;                              // or that many if this time has passed:
  Duration slow_start = std::chrono::seconds(3);   // a worker that all wait for shows it at once
  int horizon = 8;                                 // iterations over which times are predicted

  double leave_margin = 0.15;   // a mode must beat SSGD by this for SSGD to be left for it,
  double move_margin = 0.10;    // another mode the present one,
  double return_margin = 0.03;  // and SSGD the present one
  double stay_rounds = 4;       // and none of it before that many global batches
  Duration stay_least = std::chrono::seconds(2);  // and this time in the present mode
  double shares_step = 0.10;  // shares follow speeds when a batch is off by this part
  Duration refusal_holds = std::chrono::seconds(10);

  // Modes up to this staleness train like SSGD. In the last part of the samples there are no
  // others, so that the accuracy reached is SSGD's.
  double staleness_harmless = 0.5;
  std::int64_t samples_limit = 0;  // 0: not known
  double end_part = 0.15;

  StragglerOptions straggler{};
  PlainSlowOptions plain{};
  StalenessCostOptions staleness{};
  LossWindowOptions window{};
  LossGuardOptions guard{};
  SelectorOptions selector{};
  SelectorExperience experience{};  // of earlier runs of the same training
};

// Why a run went from one mode to another.
struct ModeSwitch {
  Time at{};
  std::string from{}, to{};
  std::string reason{};
  struct Score {
    std::string mode{};
    double time_s = 0;  // that the progress of one global batch takes
    double samples_per_s = 0;
    double staleness = 0;
  };
  std::vector<Score> scores{};  // the best five, the present one and SSGD
};

// STAR's controller, our own after specs/star.md: iterations -> what they will be -> stragglers ->
// every mode scored, or judged by the learned selector -> a grant -> a mode. SSGD while no worker
// straggles. Evidence (evidence.h), hysteresis (hysteresis.h) and decision (mode_decision.h) are
// apart.
class StarDirector : public Director {
 public:
  virtual std::span<const ModeSwitch> notes() const = 0;
  // For the learned selector, of this run, since they were last asked for.
  virtual std::vector<SelectorSample> take_windows() = 0;
  virtual const SelectorChoice& selector() const = 0;
  virtual double lambda() const = 0;
  virtual double noise_scale() const = 0;  // 0: not known
  virtual std::vector<RaceStanding> predictors() const = 0;
};

// `predictors` run against the three built in; `regression` and `grant` may be null: then the
// heuristic decides, and everything is granted.
std::unique_ptr<StarDirector> make_star_director(
    const StarOptions& options, std::vector<std::unique_ptr<IterationPredictor>> predictors = {},
    std::unique_ptr<ModeRegression> regression = nullptr,
    std::shared_ptr<ModeGrant> grant = nullptr);

}  // namespace orrery
