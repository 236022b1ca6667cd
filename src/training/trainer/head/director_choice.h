#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "training/mode_selection/grant.h"
#include "training/mode_selection/scoring/selector_choice.h"
#include "training/mode_selection/stragglers/predictor.h"
#include "training/mode_selection/tree/tree_director.h"
#include "training/sync/director.h"
#include "training/trainer/run_folder/run_log.h"
#include "training/trainer/run_options.h"

namespace orrery {

// A director that can say why it changed the mode last, and what it has cost.
class ReasoningDirector : public Director {
 public:
  virtual std::string reason() const = 0;
  virtual double cpu_s() const = 0;  // of its thread, its predictors' included
};

// The regression of star's learned selector, if it has one, and what it begins with.
struct SelectorStart {
  std::unique_ptr<ModeRegression> regression{};
  SelectorExperience experience{};
};

// The director of a run, and the mode in which it begins. What the director is given is written to
// the log.
struct Direction {
  Mode mode{};
  std::unique_ptr<ReasoningDirector> director{};
  TreeDirector* trees = nullptr;  // within it: it needs what links carry
  std::string experience{};       // what came of it, as a sentence; empty: there was none
};
// `predictor` may be none; it runs against those that are built in. So may the selector's
// regression: then star's heuristic always decides; and `grant`: then every mode is granted.
Result<Direction> choose_direction(const RunOptions& options,
                                   std::unique_ptr<IterationPredictor> predictor,
                                   SelectorStart selector, std::shared_ptr<ModeGrant> grant,
                                   RunLog* log, bool with_trees = false);

// What decides about modes after that many earlier runs, and why, as a sentence.
std::string explained(const SelectorChoice& selector, std::size_t runs);

// Parts in which a task is computed: more than one only where a mode may cut it off.
int blocks_for(const RunOptions& options);

// One training sample in this many is held out, for a mode that judges gradients by them; 0: none.
int held_out_for(const RunOptions& options);

}  // namespace orrery
