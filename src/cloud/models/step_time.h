#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/measurements/cm_dare.h"

namespace orrery {

// y = sum of coefficients[i] x^i.
struct Polynomial {
  std::vector<double> coefficients;

  double at(double x) const;
};

struct FitPoint {
  double x = 0;
  double y = 0;
};

// Least squares. FailedPrecondition: fewer different x than coefficients.
Result<Polynomial> fit_polynomial(std::span<const FitPoint> points, int degree);

// y = factor x^exponent, by least squares of the logarithms. x and y are above 0.
struct PowerLaw {
  double factor = 0;
  double exponent = 0;

  double at(double x) const;
};
Result<PowerLaw> fit_power_law(std::span<const FitPoint> points);

// The time of a step on any GPU: t = factor gflop^exponent tflops^capacity, by least squares of the
// logarithms. GPUs of two capacities at least are needed.
struct StepTimeModel {
  double factor = 0;
  double exponent = 0;
  double capacity_exponent = 0;

  double step_s(double gflop, double tflops) const;
};
Result<StepTimeModel> fit_step_time(std::span<const StepTimeSample> samples);

// Regression by support vectors (libsvm), of one feature.
class SupportVectors {
 public:
  enum class Kernel { Radial, Square };  // exp(-|a - b|^2), (a b + 1)^2
  struct Options {
    Kernel kernel = Kernel::Radial;
    double cost = 100;
    double tube = 0.01;  // errors below it cost nothing
  };

  static Result<SupportVectors> fit(std::span<const FitPoint> points, const Options& options);
  double at(double x) const;

 private:
  struct Model;
  explicit SupportVectors(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
  std::shared_ptr<const Model> model_;
};

}  // namespace orrery
