#include "training/mode_selection/star/mode_decision.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "training/mode_selection/rivals/fixed.h"

namespace orrery {
namespace {

constexpr int kRequestsMost = 3;  // to the cluster, in one decision
constexpr const char* kLessStale = "near the end: less stale";

std::string reason(bool too_stale, bool selected, bool no_straggler) {
  if (too_stale) return kLessStale;
  if (selected) return "the selector expects the fastest fall of the loss";
  return no_straggler ? "tried out while no worker straggles" : "least time for the same progress";
}

}  // namespace

ModeDecision::ModeDecision(const StarOptions& options, std::unique_ptr<ModeRegression> regression,
                           std::shared_ptr<ModeGrant> grant)
    : options_(options),
      regression_(std::move(regression)),
      selector_(regression_.get(), options.selector, options.experience),
      gate_(std::move(grant), options.refusal_holds) {}

bool ModeDecision::is_near_end(const Situation& situation) const {
  return options_.samples_limit > 0 &&
         static_cast<double>(situation.samples_done) >
             (1 - options_.end_part) * static_cast<double>(options_.samples_limit);
}

double ModeDecision::margin(const Mode& from, const Mode& to, const Mode& ssgd) const {
  if (same_family(from, ssgd)) return options_.leave_margin;
  return same_family(to, ssgd) ? options_.return_margin : options_.move_margin;
}

ModeDecision::Candidates ModeDecision::candidates(const Situation& situation,
                                                  const std::vector<ScoredMode>& all,
                                                  const StarEvidence& evidence,
                                                  const LossGuard& guard) {
  const bool near_end = is_near_end(situation);
  Candidates allowed;
  for (const ScoredMode& scored : all) {
    const double staleness = scored.pace.staleness;
    if (!std::isfinite(scored.time_s) || guard.keeps_away(scored.mode, staleness, situation.now) ||
        (near_end && staleness > options_.staleness_harmless)) {
      continue;
    }
    allowed.order.push_back(&scored);
  }
  std::ranges::stable_sort(allowed.order, {},
                           [](const ScoredMode* scored) { return scored->time_s; });
  std::vector<ModeFeatures> rows;
  for (const ScoredMode* scored : allowed.order) {
    rows.push_back(evidence.features(*scored, all.front(), situation));
  }
  if (const auto chosen = selector_.choose(rows)) {
    const auto at = allowed.order.begin() + static_cast<std::ptrdiff_t>(*chosen);
    std::rotate(allowed.order.begin(), at, at + 1);
    allowed.selected = allowed.order.front();
  }
  gate_.put_awaited_first(allowed.order);
  return allowed;
}

std::optional<ModeDecision::Choice> ModeDecision::choose(const Situation& situation,
                                                         const Scores& scores,
                                                         const StarEvidence& evidence,
                                                         const LossGuard& guard) {
  const Mode& mode = scores.present.mode;
  const Mode synchronous = synchronous_mode(situation.architecture);
  const ScoredMode& ssgd = scores.all.front();
  const ScoreSituation asked_in = evidence.score_situation(situation);
  const bool members_matter = std::ranges::any_of(scores.all, [&](const ScoredMode& scored) {
    return same_family(scored.mode, mode) &&
           is_far_slower_ring(asked_in, mode.ring, scored.mode.ring);
  });
  double present_s = scores.present.time_s;
  for (const ScoredMode& scored : scores.all) {
    if (!members_matter && same_family(scored.mode, mode)) {
      present_s = std::min(present_s, scored.time_s);
    }
  }
  const bool no_straggler = evidence.forecast().stragglers().empty();
  const bool too_stale =
      is_near_end(situation) && scores.present.pace.staleness > options_.staleness_harmless;
  int requests = 0;
  const Candidates tried = candidates(situation, scores.all, evidence, guard);
  for (const ScoredMode* best : tried.order) {
    if ((same_family(best->mode, mode) && !members_matter) || best->mode == mode) {
      return std::nullopt;
    }
    // The selector's choice need not be better by the heuristic.
    const bool selected = best == tried.selected && requests == 0;
    const double time_most_s = (1 - margin(mode, best->mode, synchronous)) * present_s;
    if (!selected && !too_stale && best->time_s > time_most_s) break;
    const GrantAnswer answer = same_family(best->mode, synchronous)
                                   ? GrantAnswer::Yes
                                   : gate_.ask(*best, ssgd, situation.now);
    if (answer == GrantAnswer::Later) return std::nullopt;
    if (answer == GrantAnswer::Yes) {
      return Choice{best->mode, reason(too_stale, selected, no_straggler)};
    }
    if (++requests == kRequestsMost) break;
  }
  if (too_stale) return Choice{synchronous, kLessStale};
  return std::nullopt;
}

}  // namespace orrery
