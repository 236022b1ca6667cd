#include "cloud/decisions/replacement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr auto kRules = std::to_array<std::string_view>(
    {"go-on", "same", "cheapest", "cheapest-spot", "on-demand", "fall-back"});
constexpr int kLossesBeforeFallBack = 3;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Below it a candidate is taken for lost.
constexpr double kSurvivalLeast = 1e-3;

double usd_per_s(const RemainingWork& work) {
  return (work.usd_per_hour + work.usd_per_hour_of_time) / 3600;
}

// The expected course of the work with one more server, in pieces of time that grow: most servers
// that do not live long end early.
class Course {
 public:
  Course(const RemainingWork& work, const ReplacementCandidate& candidate)
      : work_(work),
        candidate_(candidate),
        without_(cluster_speed(work.sum_steps_per_s, work.cap)),
        with_(cluster_speed(work.sum_steps_per_s + candidate.steps_per_s, work.cap)) {}

  ReplacementEstimate run() {
    if (!(with_ > 0)) return {.seconds = kInfinite, .usd = kInfinite, .usd_per_step = kInfinite};
    const double startup_s = seconds(candidate_.startup);
    const double piece_max_s = (startup_s + work_.steps / with_) / 64;
    double piece_s = startup_s > 0 ? std::min(piece_max_s, startup_s / 8) : piece_max_s;
    while (done_ < work_.steps && alive_ >= kSurvivalLeast && piece_s > 0) {
      // A piece ends where the server begins to work.
      const bool crosses = at_s_ < startup_s && at_s_ + piece_s > startup_s;
      advance(crosses ? startup_s - at_s_ : piece_s);
      piece_s = std::min(piece_s * 1.05, std::max(piece_max_s, at_s_ / 16));
    }
    if (done_ < work_.steps && without_ > 0) finish_without();
    return {.seconds = done_ < work_.steps ? kInfinite : at_s_,
            .usd = usd_,
            .usd_per_step = done_ > 0 ? usd_ / done_ : kInfinite};
  }

 private:
  void advance(double piece_s) {
    const double next = candidate_.lifetime.survival(from_seconds(at_s_ + piece_s));
    const double alive = (alive_ + next) / 2;
    const bool works = at_s_ + piece_s / 2 >= seconds(candidate_.startup);
    const double speed = works ? alive * with_ + (1 - alive) * without_ : without_;
    const double left = work_.steps - done_;
    const double taken_s = speed * piece_s > left ? left / speed : piece_s;
    usd_ += taken_s * (usd_per_s(work_) + alive * candidate_.offer.price_usd_per_hour / 3600);
    done_ += speed * piece_s > left ? left : speed * piece_s;
    at_s_ += taken_s;
    alive_ = next;
  }

  void finish_without() {
    const double left_s = (work_.steps - done_) / without_;
    at_s_ += left_s;
    usd_ += left_s * usd_per_s(work_);
    done_ = work_.steps;
  }

  const RemainingWork& work_;
  const ReplacementCandidate& candidate_;
  double without_;
  double with_;
  double at_s_ = 0;
  double done_ = 0;
  double usd_ = 0;
  double alive_ = 1;
};

bool allows(ReplacementRule rule, const RemainingWork& work, const Offer& lost,
            const Offer& offer) {
  const bool fell_back = rule == ReplacementRule::FallBack && work.losses >= kLossesBeforeFallBack;
  switch (rule) {
    case ReplacementRule::GoOn:
      return false;
    case ReplacementRule::Same:
      return offer.zone == lost.zone && offer.gpu == lost.gpu && offer.gpus == lost.gpus &&
             offer.offer_class == lost.offer_class;
    case ReplacementRule::Cheapest:
      return true;
    case ReplacementRule::CheapestSpot:
    case ReplacementRule::FallBack:
      return offer.offer_class == (fell_back ? OfferClass::OnDemand : OfferClass::Spot);
    case ReplacementRule::OnDemand:
      return offer.offer_class == OfferClass::OnDemand;
  }
  return false;
}

// True if the rule compares its candidates with going on.
bool may_go_on(ReplacementRule rule, const RemainingWork& work) {
  return rule == ReplacementRule::Cheapest || rule == ReplacementRule::CheapestSpot ||
         (rule == ReplacementRule::FallBack && work.losses < kLossesBeforeFallBack);
}

}  // namespace

ReplacementEstimate estimate_going_on(const RemainingWork& work) {
  const double speed = cluster_speed(work.sum_steps_per_s, work.cap);
  if (!(work.steps > 0)) return {};
  if (!(speed > 0)) return {.seconds = kInfinite, .usd = kInfinite, .usd_per_step = kInfinite};
  const double time_s = work.steps / speed;
  const double usd = time_s * usd_per_s(work);
  return {.seconds = time_s, .usd = usd, .usd_per_step = usd / work.steps};
}

ReplacementEstimate estimate_with(const RemainingWork& work,
                                  const ReplacementCandidate& candidate) {
  if (!(work.steps > 0)) return {};
  return Course(work, candidate).run();
}

ReplacementChoice choose_replacement(ReplacementRule rule, const RemainingWork& work,
                                     const Offer& lost,
                                     std::span<const ReplacementCandidate> candidates) {
  ReplacementChoice choice{.candidate = std::nullopt, .estimate = estimate_going_on(work)};
  double least = may_go_on(rule, work) ? choice.estimate.usd_per_step : kInfinite;
  bool first = !may_go_on(rule, work);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!allows(rule, work, lost, candidates[i].offer)) continue;
    const ReplacementEstimate estimate = estimate_with(work, candidates[i]);
    if (!first && !(estimate.usd_per_step < least)) continue;
    choice = {.candidate = i, .estimate = estimate};
    least = estimate.usd_per_step;
    first = false;
  }
  return choice;
}

std::string_view text_of(ReplacementRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

std::optional<ReplacementRule> replacement_rule_of(std::string_view word) {
  const auto found = std::ranges::find(kRules, word);
  if (found == kRules.end()) return std::nullopt;
  return static_cast<ReplacementRule>(found - kRules.begin());
}

std::span<const std::string_view> replacement_rules() { return kRules; }

}  // namespace orrery
