#include "cloud/training_model/policy_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/statistics.h"

namespace orrery {
namespace {

constexpr std::string_view kAllOnDemand = "all-on-demand";

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  double sum = 0;
  for (const double value : values) sum += value;
  const auto at = [&](double part) { return quantile(values, part, QuantileRule::Interpolated); };
  return {.mean = sum / static_cast<double>(values.size()),
          .p10 = at(0.1),
          .median = at(0.5),
          .p90 = at(0.9)};
}

void summarise(PolicyResult& result) {
  std::vector<double> times, costs;
  double usd = 0;
  const double share = 1 / static_cast<double>(std::max<std::size_t>(result.runs.size(), 1));
  for (const TransientOutcome& run : result.runs) {
    usd += run.usd;
    result.losses += run.losses * share;
    result.replacements += run.replacements * share;
    result.roll_backs += run.roll_backs * share;
    result.steps_lost += run.steps_lost * share;
    if (!run.finished) continue;
    ++result.finished;
    times.push_back(run.wait_s + run.train_s);
    costs.push_back(run.usd);
  }
  result.time_s = spread_of(std::move(times));
  result.usd = spread_of(std::move(costs));
  result.usd_per_finished =
      result.finished > 0 ? usd / result.finished : std::numeric_limits<double>::infinity();
}

std::optional<std::vector<Offer>> on_demand_of(const std::vector<Offer>& workers,
                                               std::span<const Offer> offers) {
  std::vector<Offer> firm;
  for (const Offer& worker : workers) {
    const auto found = std::ranges::find_if(offers, [&](const Offer& offer) {
      return offer.zone == worker.zone && offer.gpu == worker.gpu && offer.gpus == worker.gpus &&
             offer.offer_class == OfferClass::OnDemand;
    });
    if (found == offers.end()) return std::nullopt;
    firm.push_back(*found);
  }
  return firm;
}

}  // namespace

Result<std::vector<PolicyResult>> compare_replacements(const TransientTraining& training,
                                                       const ServerWorld& world,
                                                       std::span<const ComparedPolicy> policies,
                                                       std::span<const std::uint64_t> seeds) {
  std::vector<PolicyResult> results;
  for (const ComparedPolicy& policy : policies) {
    PolicyResult result;
    result.name = policy.name;
    TransientTraining chosen = training;
    chosen.replacement = policy.replacement;
    chosen.workers = policy.workers;
    for (const std::uint64_t seed : seeds) {
      ServerWorld own = world;
      own.seed = seed;
      DiscreteEventProvider provider(std::move(own));
      TRY_ASSIGN(TransientOutcome outcome, run_training(chosen, provider));
      result.runs.push_back(std::move(outcome));
    }
    summarise(result);
    results.push_back(std::move(result));
  }
  return results;
}

Result<std::vector<ComparedPolicy>> compared_policies(const TransientTraining& training,
                                                      std::span<const Offer> offers,
                                                      std::span<const std::string> words) {
  std::vector<ComparedPolicy> known;
  const auto firm = on_demand_of(training.workers, offers);
  if (firm) {
    known.push_back({.name = std::string(kAllOnDemand),
                     .replacement = ReplacementRule::Same,
                     .workers = *firm});
  }
  for (const std::string_view word : replacement_rules()) {
    known.push_back({.name = std::string(word),
                     .replacement = *replacement_rule_of(word),
                     .workers = training.workers});
  }
  if (words.empty()) return known;
  std::vector<ComparedPolicy> chosen;
  for (const std::string& word : words) {
    const auto found = std::ranges::find(known, word, &ComparedPolicy::name);
    if (found != known.end()) {
      chosen.push_back(*found);
    } else if (word == kAllOnDemand) {
      return invalid("all-on-demand: the price file has no on-demand price for every worker");
    } else {
      return invalid(fmt::format("there is no policy '{}'; the policies are {}, {}", word,
                                 kAllOnDemand, fmt::join(replacement_rules(), ", ")));
    }
  }
  return chosen;
}

std::vector<std::size_t> best_tradeoffs(std::span<const PolicyResult> results) {
  std::vector<std::size_t> best;
  const auto beats = [](const PolicyResult& a, const PolicyResult& b) {
    const bool no_worse =
        a.time_s.mean <= b.time_s.mean && a.usd_per_finished <= b.usd_per_finished;
    const bool better = a.time_s.mean < b.time_s.mean || a.usd_per_finished < b.usd_per_finished;
    return a.finished > 0 && no_worse && better;
  };
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].finished == 0) continue;
    const bool beaten = std::ranges::any_of(
        results, [&](const PolicyResult& other) { return beats(other, results[i]); });
    if (!beaten) best.push_back(i);
  }
  std::ranges::stable_sort(best, {}, [&](std::size_t i) { return results[i].time_s.mean; });
  return best;
}

}  // namespace orrery
