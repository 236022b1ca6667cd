#include "training/mode_selection/scoring/selector_score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace orrery {
namespace {

double heuristic_worth(const SelectorSample& sample) {
  return sample.features.gradients_ratio / (1 + sample.lambda * sample.features.staleness);
}

// The features without those of the mode.
ModeFeatures without_mode(ModeFeatures features) {
  features.kind = features.x_share = features.unequal_shares = 0;
  features.gradients_ratio = features.staleness = 0;
  return features;
}

// drop = (a + b phase) worth, by least squares.
struct FittedHeuristic {
  double a = 0, b = 0;

  explicit FittedHeuristic(std::span<const SelectorSample> samples) {
    double ww = 0, wp = 0, pp = 0, wy = 0, py = 0;
    for (const SelectorSample& sample : samples) {
      const double w = heuristic_worth(sample), p = w * sample.features.phase;
      ww += w * w, wp += w * p, pp += p * p;
      wy += w * sample.loss_drop, py += p * sample.loss_drop;
    }
    const double determinant = ww * pp - wp * wp;
    if (determinant > 1e-9 * ww * pp) {
      a = (wy * pp - py * wp) / determinant;
      b = (py * ww - wy * wp) / determinant;
    } else if (ww > 0) {  // it was all in one phase
      a = wy / ww;
    }
  }
  double operator()(const SelectorSample& sample) const {
    return (a + b * sample.features.phase) * heuristic_worth(sample);
  }
};

double root_mean_square(std::span<const SelectorSample> samples, auto predicted) {
  double squares = 0;
  for (const SelectorSample& sample : samples) {
    const double off = predicted(sample) - sample.loss_drop;
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(samples.size()));
}

}  // namespace

double kind_number(SyncRuleKind rule) {
  switch (rule) {
    case SyncRuleKind::Static:
      return 0;
    case SyncRuleKind::Dynamic:
      return 1;
    case SyncRuleKind::Ring:
      return 2;
    case SyncRuleKind::Lgc:
      return 3;
    case SyncRuleKind::Ssp:
    case SyncRuleKind::ZenoPlus:
      return 4;
  }
  return 0;
}

bool is_finite(const SelectorSample& sample) {
  const ModeFeatures& f = sample.features;
  const std::array<double, kModeFeatures + 3> all = {
      f.kind,        f.x_share,           f.unequal_shares, f.gradients_ratio, f.staleness,
      f.straggling,  f.noise_ratio,       f.rate,           f.phase,           f.compute_share,
      sample.lambda, sample.ssgd_batch_s, sample.loss_drop};
  return std::ranges::all_of(all, [](double value) { return std::isfinite(value); });
}

Result<SelectorErrors> judge_regression(ModeRegression& regression,
                                        std::span<const SelectorSample> learned,
                                        std::span<const SelectorSample> held_out) {
  if (learned.empty() || held_out.empty()) return invalid("no windows to learn from or judge by");
  SelectorErrors errors{.windows = held_out.size()};
  std::vector<SelectorSample> modeless(learned.begin(), learned.end());
  for (SelectorSample& sample : modeless) sample.features = without_mode(sample.features);
  TRY(regression.fit(modeless));
  errors.modeless = root_mean_square(held_out, [&](const SelectorSample& sample) {
    return regression.predict(without_mode(sample.features));
  });
  TRY(regression.fit(learned));
  errors.regression = root_mean_square(
      held_out, [&](const SelectorSample& sample) { return regression.predict(sample.features); });
  errors.heuristic = root_mean_square(held_out, FittedHeuristic(learned));
  double mean = 0;
  for (const SelectorSample& sample : learned) mean += sample.loss_drop;
  mean /= static_cast<double>(learned.size());
  errors.mean = root_mean_square(held_out, [mean](const SelectorSample&) { return mean; });
  return errors;
}

SelectorErrors together(const SelectorErrors& a, const SelectorErrors& b) {
  const auto m = static_cast<double>(a.windows), n = static_cast<double>(b.windows);
  if (a.windows + b.windows == 0) return a;
  const auto joined = [m, n](double x, double y) {
    return std::sqrt((m * x * x + n * y * y) / (m + n));
  };
  return {.regression = joined(a.regression, b.regression),
          .modeless = joined(a.modeless, b.modeless),
          .heuristic = joined(a.heuristic, b.heuristic),
          .mean = joined(a.mean, b.mean),
          .windows = a.windows + b.windows};
}

}  // namespace orrery
