#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "training/mode_selection/grant.h"
#include "training/mode_selection/scoring/score.h"

namespace orrery {

// Asks the cluster before a job leaves SSGD. A refusal holds for a while. Where an answer comes
// later, the same mode is asked for again at the next decision.
class GrantGate {
 public:
  // Without a `grant` everything is granted.
  GrantGate(std::shared_ptr<ModeGrant> grant, Duration refusal_holds);

  GrantAnswer ask(const ScoredMode& wanted, const ScoredMode& ssgd, Time now);
  bool awaits_answer() const { return awaited_.has_value(); }
  // Moves the mode whose answer is awaited to the front; then none is awaited any more. Scores that
  // lie close together change places, and without this an answer would never meet its request.
  void put_awaited_first(std::vector<const ScoredMode*>& candidates);
  void back_in_ssgd(Time now);

 private:
  struct Refusal {
    Mode mode{};
    Time until{};
  };
  const std::shared_ptr<ModeGrant> grant_;
  const Duration refusal_holds_;
  bool granted_ = false;
  std::vector<Refusal> refusals_{};
  std::optional<Mode> awaited_{};
};

}  // namespace orrery
