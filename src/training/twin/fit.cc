#include "training/twin/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/statistics.h"

namespace orrery {
namespace {

constexpr double kErrorFloor = 0.02;  // what evaluations of a nearly perfect model scatter by
using Squares = LeastSquares<4>;

// Calls back with each point and the effective samples it stands at.
template <class Call>
void along(const ConvergenceModel& model, const TrainingCurve& curve, const Call& call) {
  double effective = 0, samples = 0;
  for (const CurvePoint& point : curve) {
    effective += (point.samples - samples) * model.worth(point.staleness);
    samples = point.samples;
    call(point, effective);
  }
}

// For one shape (scale, power, lambda) everything else follows.
struct Shape {
  double log_scale = 0, log_power = 0, lambda = 0;
};

class Fitter {
 public:
  Fitter(std::span<const TrainingCurve> curves, const ConvergenceModel& from)
      : curves_(curves), from_(from) {
    const CurvePoint* first = nullptr;
    for (const TrainingCurve& curve : curves) {
      for (const CurvePoint& point : curve) {
        if (first == nullptr) first = &point;
        most_samples_ = std::max(most_samples_, point.samples);
        knows_staleness_ = knows_staleness_ || differs(point.staleness, first->staleness);
        knows_rate_ = knows_rate_ || differs(point.rate, first->rate);
      }
    }
  }

  ConvergenceModel best() {
    const double span = std::log(most_samples_);
    Shape step{.log_scale = 1, .log_power = 0.5, .lambda = 0.25};
    for (double scale = span - 9; scale <= span + 1; scale += step.log_scale) {
      for (double power = -1.5; power <= 2; power += step.log_power) {
        for (double lambda = 0; lambda <= 2; lambda += step.lambda) {
          consider({scale, power, knows_staleness_ ? lambda : from_.staleness_cost});
          if (!knows_staleness_) break;
        }
      }
    }
    for (int round = 0; round < 12; ++round) {
      step = {step.log_scale / 1.7, step.log_power / 1.7, step.lambda / 1.7};
      const Shape centre = *shape_;
      for (const double i : {-1.0, 0.0, 1.0}) {
        for (const double j : {-1.0, 0.0, 1.0}) {
          for (const double k : {-1.0, 0.0, 1.0}) {
            const double lambda =
                knows_staleness_ ? centre.lambda + k * step.lambda : centre.lambda;
            consider({centre.log_scale + i * step.log_scale, centre.log_power + j * step.log_power,
                      std::max(0.0, lambda)});
          }
        }
      }
    }
    return with_loss(model_);
  }

 private:
  static bool differs(double a, double b) { return std::abs(a - b) > 0.05 * (1 + std::abs(b)); }

  ConvergenceModel shaped(const Shape& shape) const {
    ConvergenceModel model = from_;
    model.scale_samples = std::exp(shape.log_scale);
    model.power = std::exp(shape.log_power);
    model.staleness_cost = shape.lambda;
    return model;
  }

  void consider(const Shape& shape) {
    ConvergenceModel model = shaped(shape);
    Squares squares;
    for (const TrainingCurve& curve : curves_) {
      along(model, curve, [&](const CurvePoint& point, double effective) {
        const double done = 1 - model.left(effective);
        // A cost that does not differ cannot be separated from the final accuracy.
        const double rate = knows_rate_ ? point.rate : 0;
        const double stale = knows_staleness_ ? point.rate * point.staleness : 0;
        // What is still wrong counts in proportion: the last steps to a target are small ones.
        const double weight = 1 / (kErrorFloor + 1 - point.accuracy);
        Squares::Terms row{1 - done, done, -done * rate, -done * stale};
        for (double& term : row) term *= weight;
        squares.add(row, weight * point.accuracy);
      });
    }
    Squares::Terms terms = squares.solve();
    terms[0] = std::clamp(terms[0], 0.0, 1.0);
    terms[1] = std::clamp(terms[1], 0.0, 1.0);
    // Of the possible values, not of those before clamping.
    const double misses = squares.residual(terms);
    if (shape_ && misses >= misses_) return;
    shape_ = shape;
    misses_ = misses;
    model_ = model;
    model_.accuracy_first = terms[0];
    model_.accuracy_last = terms[1];
    model_.rate_cost = terms[2];
    model_.plateau_cost = terms[3];
  }

  ConvergenceModel with_loss(ConvergenceModel model) const {
    Squares squares;
    int known = 0;
    for (const TrainingCurve& curve : curves_) {
      along(model, curve, [&](const CurvePoint& point, double effective) {
        if (!std::isfinite(point.loss)) return;
        const double left = model.left(effective);
        squares.add({left, 1 - left, 0, 0}, point.loss);
        ++known;
      });
    }
    if (known < 3) return model;
    const Squares::Terms terms = squares.solve();
    model.loss_first = std::max(0.0, terms[0]);
    model.loss_last = std::max(0.0, terms[1]);
    return model;
  }

  std::span<const TrainingCurve> curves_;
  ConvergenceModel from_;
  double most_samples_ = 1;
  bool knows_staleness_ = false, knows_rate_ = false;
  std::optional<Shape> shape_{};
  double misses_ = 0;
  ConvergenceModel model_{};
};

}  // namespace

Result<ConvergenceFit> fit_convergence(std::span<const TrainingCurve> curves,
                                       const ConvergenceModel& from) {
  ConvergenceFit fit;
  for (const TrainingCurve& curve : curves) fit.points += static_cast<int>(curve.size());
  constexpr int kLeastPoints = 8;
  if (fit.points < kLeastPoints) {
    return invalid(fmt::format("{} points are too few to fit a curve to; give at least {}",
                               fit.points, kLeastPoints));
  }
  fit.model = Fitter(curves, from).best();
  double accuracy = 0, loss = 0;
  int losses = 0;
  for (const TrainingCurve& curve : curves) {
    along(fit.model, curve, [&](const CurvePoint& point, double effective) {
      accuracy +=
          std::pow(fit.model.accuracy(effective, point.staleness, point.rate) - point.accuracy, 2);
      if (!std::isfinite(point.loss)) return;
      loss += std::pow(fit.model.loss(effective) - point.loss, 2);
      ++losses;
    });
  }
  fit.accuracy_error = std::sqrt(accuracy / fit.points);
  fit.loss_error = losses > 0 ? std::sqrt(loss / losses) : 0;
  return fit;
}

double accuracy_error(const ConvergenceModel& model, const TrainingCurve& curve) {
  double sum = 0;
  along(model, curve, [&](const CurvePoint& point, double effective) {
    sum += std::pow(model.accuracy(effective, point.staleness, point.rate) - point.accuracy, 2);
  });
  return curve.empty() ? 0 : std::sqrt(sum / static_cast<double>(curve.size()));
}

}  // namespace orrery
