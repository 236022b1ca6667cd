#include "training/mode_selection/star/grant_gate.h"

#include <algorithm>
#include <utility>

namespace orrery {

GrantGate::GrantGate(std::shared_ptr<ModeGrant> grant, Duration refusal_holds)
    : grant_(std::move(grant)), refusal_holds_(refusal_holds) {}

GrantAnswer GrantGate::ask(const ScoredMode& wanted, const ScoredMode& ssgd, Time now) {
  if (!grant_) return GrantAnswer::Yes;
  std::erase_if(refusals_, [now](const Refusal& refusal) { return refusal.until <= now; });
  if (std::ranges::any_of(refusals_, [&](const Refusal& refusal) {
        return same_family(refusal.mode, wanted.mode);
      })) {
    return GrantAnswer::No;
  }
  const GrantAnswer answer =
      grant_->may({.now = now,
                   .mode = wanted.mode,
                   .rate_ratio = wanted.pace.gradients_per_s / ssgd.pace.gradients_per_s,
                   .time_saved = 1 - wanted.time_s / ssgd.time_s});
  if (answer == GrantAnswer::No) refusals_.push_back({wanted.mode, now + refusal_holds_});
  if (answer == GrantAnswer::Later) awaited_ = wanted.mode;
  granted_ = granted_ || answer == GrantAnswer::Yes;
  return answer;
}

void GrantGate::put_awaited_first(std::vector<const ScoredMode*>& candidates) {
  if (!awaited_) return;
  const auto found = std::ranges::find_if(candidates, [this](const ScoredMode* scored) {
    return same_family(scored->mode, *awaited_);
  });
  if (found != candidates.end()) std::rotate(candidates.begin(), found, found + 1);
  awaited_.reset();
}

void GrantGate::back_in_ssgd(Time now) {
  if (std::exchange(granted_, false)) grant_->given_back(now);
}

}  // namespace orrery
