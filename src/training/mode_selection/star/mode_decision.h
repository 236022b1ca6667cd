#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/mode_selection/scoring/selector_choice.h"
#include "training/mode_selection/star/evidence.h"
#include "training/mode_selection/star/grant_gate.h"

namespace orrery {

// Chooses among scored modes: by least time for the same progress, or by the learned selector where
// it is trusted. Keeps away from modes in which the loss rose, from stale ones near the end, and
// from what the cluster refuses.
class ModeDecision {
 public:
  // `options` outlive it.
  ModeDecision(const StarOptions& options, std::unique_ptr<ModeRegression> regression,
               std::shared_ptr<ModeGrant> grant);

  struct Scores {
    const std::vector<ScoredMode>& all;  // SSGD first
    const ScoredMode& present;
  };
  struct Choice {
    Mode mode{};
    std::string reason{};
  };
  // Nothing: the present mode stays.
  std::optional<Choice> choose(const Situation& situation, const Scores& scores,
                               const StarEvidence& evidence, const LossGuard& guard);

  void add(const SelectorSample& sample) { selector_.add(sample); }
  void back_in_ssgd(Time now) { gate_.back_in_ssgd(now); }

  bool awaits_answer() const { return gate_.awaits_answer(); }
  bool is_near_end(const Situation& situation) const;
  const SelectorChoice& selector() const { return selector_; }

 private:
  // In the order in which they are to be tried.
  struct Candidates {
    std::vector<const ScoredMode*> order{};
    const ScoredMode* selected = nullptr;  // by the learned selector
  };
  Candidates candidates(const Situation& situation, const std::vector<ScoredMode>& all,
                        const StarEvidence& evidence, const LossGuard& guard);
  double margin(const Mode& from, const Mode& to, const Mode& ssgd) const;

  const StarOptions& options_;
  const std::unique_ptr<ModeRegression> regression_;
  SelectorChoice selector_;
  GrantGate gate_;
};

}  // namespace orrery
