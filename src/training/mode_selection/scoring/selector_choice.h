#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "training/mode_selection/scoring/selector.h"
#include "training/mode_selection/scoring/selector_score.h"

namespace orrery {

struct SelectorOptions {
  int samples_least = 200;  // before these are in, the heuristic decides
  int samples_most = 1000;  // the newest are kept, so that a fit takes no longer
  int refit_every = 50;     // samples
  double held_out = 0.25;   // the newest so large a part is not learned from but judged by
  int near_least = 5;       // windows of such a mode, before it may be chosen
  double explore = 0.05;    // share of the regression's decisions that take the runner-up
  std::uint64_t seed = 1;
};

// The windows of runs that are over: the oldest run first, each in order of time.
using SelectorExperience = std::vector<std::vector<SelectorSample>>;

// Decides between the learned regression and the heuristic. The regression is used only if it
// predicts the newest windows, which it was not shown, better than the heuristic does
// (SelectorErrors). What earlier runs have seen counts like windows of this one, so with enough of
// it the regression may decide from the first look on. It does so between modes of which it has
// seen a few windows, two of them at least: of others its predictions are untested.
class SelectorChoice {
 public:
  // `regression` may be null: then the heuristic always decides.
  explicit SelectorChoice(ModeRegression* regression, const SelectorOptions& options = {},
                          const SelectorExperience& experience = {});

  void add(const SelectorSample& sample);

  bool trusted() const { return trusted_; }
  const SelectorErrors& errors() const { return errors_; }  // when it was judged last
  std::span<const SelectorSample> samples() const { return samples_; }

  // The place of the mode to take, or nothing if the heuristic is to decide.
  std::optional<std::size_t> choose(std::span<const ModeFeatures> candidates);

 private:
  void keep(const SelectorSample& sample);
  std::size_t learned_from() const;
  void judge();
  bool has_seen(const ModeFeatures& mode) const;

  ModeRegression* regression_;
  SelectorOptions options_;
  Random random_;
  std::vector<SelectorSample> samples_;
  std::vector<std::size_t> run_of_;  // each sample
  std::size_t run_ = 0;              // the present one
  int since_judged_ = 0;
  bool trusted_ = false;
  SelectorErrors errors_{};
};

}  // namespace orrery
