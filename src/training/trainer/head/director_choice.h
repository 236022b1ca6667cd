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

// Who decides about the mode of a run, and in which it begins. What the director is told is written
// to the log.
struct Direction {
  Mode mode{};
  std::unique_ptr<ReasoningDirector> director{};
  TreeDirector* trees = nullptr;  // within it: it is to be told what links carry
  std::string experience{};       // what came of it, for people; empty: there was none
};
// `predictor` may be none; it runs against those that are built in. So may the selector's
// regression: then star's heuristic always decides; and `grant`: then every mode is granted.
Result<Direction> choose_direction(const RunOptions& options,
                                   std::unique_ptr<IterationPredictor> predictor,
                                   SelectorStart selector, std::shared_ptr<ModeGrant> grant,
                                   RunLog* log, bool with_trees = false);

// Who decides with what so many earlier runs have seen, and why, for people.
std::string explained(const SelectorChoice& selector, std::size_t runs);

// Parts in which a task is computed: more than one only where a mode may cut it off.
int blocks_for(const RunOptions& options);

// One of so many training samples is kept for a mode that judges gradients by others; 0: none is.
int held_out_for(const RunOptions& options);

}  // namespace orrery
