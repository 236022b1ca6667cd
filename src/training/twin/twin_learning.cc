#include "training/twin/twin_learning.h"

#include <algorithm>

namespace orrery {

void TwinLearning::describe(Gradient& gradient, const Task& task) const {
  const double norm2 = progress_.gradient_norm2();
  const ConvergenceModel& model = setup_.convergence;
  const auto batch = static_cast<double>(std::max(1, gradient.samples));
  const double age = static_cast<double>(newest_.version - task.version);
  gradient.loss = progress_.loss();
  gradient.norm2 = norm2 * (1 + model.noise_scale / batch);
  gradient.dot_validation = norm2 * model.worth(age);
  gradient.norm2_validation = norm2 * (1 + model.noise_scale / setup_.conductor.global_batch);
}

void TwinLearning::apply(const ApplyUpdate& order, Time now, TwinResult& counts) {
  newest_ = {.version = order.update.version, .at = now};
  const double rate = order.update.rate / setup_.conductor.rate.base;
  for (std::size_t i = 0; i < order.tasks.size(); ++i) {
    const Task& task = order.tasks[i];
    const std::int64_t staleness = order.update.version - 1 - task.version;
    const double samples = order.update.terms[i].weight * setup_.conductor.global_batch;
    progress_.apply(samples, static_cast<double>(staleness), rate);
    counts.max_staleness = std::max(counts.max_staleness, staleness);
    ++counts.gradients_of[static_cast<std::size_t>(task.worker)];
    ++gradients_;
    staleness_ += staleness;
    if (staleness > 0) continue;
    ++newest_.fresh;
    newest_.fresh_samples += task.samples.count;
  }
  if (newest_.fresh_samples > 0) {
    newest_.fresh_mean_norm2 =
        progress_.gradient_norm2() * (1 + setup_.convergence.noise_scale / newest_.fresh_samples);
  }
}

TwinPoint TwinLearning::evaluate(Time made) {
  const double scatter = setup_.convergence.scatter;
  const double off = scatter > 0 ? scatter * scatter_.normal() : 0;
  TwinPoint point{.time_s = seconds(made),
                  .samples = static_cast<std::int64_t>(progress_.samples()),
                  .accuracy = std::clamp(progress_.accuracy() + off, 0.0, 1.0),
                  .loss = progress_.loss()};
  if (gradients_ > 0) {
    point.staleness = static_cast<double>(staleness_) / static_cast<double>(gradients_);
  }
  gradients_ = staleness_ = 0;
  return point;
}

}  // namespace orrery
