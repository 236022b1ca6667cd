#include "scheduling/prediction/goodput.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr double kOverlapMax = 10;
constexpr double kOverlapStep = 0.25;
constexpr int kBatchesTried = 50;

// y = a + b x by least squares of relative errors, neither below zero.
struct Line {
  double at_zero = 0;
  double each = 0;
};
struct Point {
  double x = 0;
  double y = 0;
};

Line fit_line(std::span<const Point> points) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const Point& point : points) {
    if (!(point.y > 0)) continue;
    const double weight = 1 / (point.y * point.y);
    w += weight;
    wx += weight * point.x;
    wxx += weight * point.x * point.x;
    wy += weight * point.y;
    wxy += weight * point.x * point.y;
  }
  if (w == 0) return {};
  const double spread = w * wxx - wx * wx;
  Line line{wy / w, 0};
  if (spread > 1e-12 * w * wxx) line.each = (w * wxy - wx * wy) / spread;
  line.at_zero = (wy - line.each * wx) / w;
  if (line.each < 0) line = {wy / w, 0};
  if (line.at_zero < 0) line = {0, wxx > 0 ? wxy / wxx : 0};
  return line;
}

StepModel fit_exchange(StepModel model, std::span<const StepTime> measured) {
  std::vector<Point> local;
  std::vector<Point> network;
  const double p = model.overlap;
  for (const StepTime& one : measured) {
    if (one.replicas < 2) continue;
    const double compute = std::pow(model.compute_s(one.local_batch), p);
    const double rest = std::max(0.0, std::pow(one.step_s, p) - compute);
    const Point point{static_cast<double>(one.replicas - 2), std::pow(rest, 1 / p)};
    (one.nodes > 1 ? network : local).push_back(point);
  }
  const Line within = fit_line(local);
  const Line across = fit_line(network);
  model.local = within.at_zero;
  model.local_each = within.each;
  model.network = across.at_zero;
  model.network_each = across.each;
  return model;
}

}  // namespace

double StepModel::exchange_s(int nodes, int replicas) const {
  if (replicas < 2) return 0;
  if (nodes > 1) return network + network_each * (replicas - 2);
  return local + local_each * (replicas - 2);
}

double StepModel::step_s(int nodes, int replicas, double local_batch) const {
  const double computing = std::pow(compute_s(local_batch), overlap);
  const double exchanging = std::pow(exchange_s(nodes, replicas), overlap);
  return std::pow(computing + exchanging, 1 / overlap);
}

double log_error(const StepModel& model, std::span<const StepTime> measured) {
  double sum = 0;
  for (const StepTime& one : measured) {
    const double error =
        std::log(model.step_s(one.nodes, one.replicas, one.local_batch) / one.step_s);
    sum += error * error;
  }
  return measured.empty() ? 0 : std::sqrt(sum / static_cast<double>(measured.size()));
}

StepModel fit_step_model(std::span<const StepTime> measured) {
  std::vector<Point> compute;
  for (const StepTime& one : measured) {
    compute.push_back({static_cast<double>(one.local_batch), one.step_s - one.sync_s});
  }
  const Line line = fit_line(compute);
  StepModel best;
  double best_error = std::numeric_limits<double>::infinity();
  for (double overlap = 1; overlap <= kOverlapMax; overlap += kOverlapStep) {
    StepModel model{.compute = line.at_zero, .compute_each = line.each};
    model.overlap = overlap;
    model = fit_exchange(model, measured);
    const double error = log_error(model, measured);
    if (error < best_error) {
      best_error = error;
      best = model;
    }
  }
  return best;
}

Goodput::Goodput(const StepModel& steps, Limits limits, std::map<int, std::vector<Epoch>> epochs)
    : steps_(steps), limits_(limits), epochs_(std::move(epochs)) {
  INVARIANT(!epochs_.empty(), "some batch was measured");
  for (const auto& [batch, list] : epochs_) INVARIANT(!list.empty(), "some epoch was measured");
}

double Goodput::worth(double batch, std::size_t epoch) const {
  auto above = epochs_.lower_bound(static_cast<int>(std::ceil(batch)));
  if (above == epochs_.end()) --above;
  const auto below = above == epochs_.begin() || above->first <= batch ? above : std::prev(above);
  const auto noise_of = [&](const std::vector<Epoch>& list) {
    return list[std::min(epoch, list.size() - 1)].noise;
  };
  GradientNoise noise = noise_of(above->second);
  if (below != above) {
    const GradientNoise lower = noise_of(below->second);
    const double part = (batch - below->first) / (above->first - below->first);
    noise.mean_square = part * noise.mean_square + (1 - part) * lower.mean_square;
    noise.variance = part * noise.variance + (1 - part) * lower.variance;
  }
  const double scale = batch / batch_min();
  const double averaged = noise.variance / scale + noise.mean_square;
  return averaged > 0 ? (noise.variance + noise.mean_square) / averaged : 1;
}

const std::vector<Goodput::Epoch>& Goodput::at_or_below(double batch) const {
  auto above = epochs_.upper_bound(static_cast<int>(batch));
  return above == epochs_.begin() ? above->second : std::prev(above)->second;
}

std::size_t Goodput::epoch_at(int batch, double part_done) const {
  const std::vector<Epoch>& list = at_or_below(batch);
  const double iteration = part_done * list.back().iteration;
  const auto ended = std::ranges::upper_bound(list, iteration, {}, &Epoch::iteration);
  return std::min(static_cast<std::size_t>(ended - list.begin()), list.size() - 1);
}

Goodput::Choice Goodput::best(int nodes, int replicas, int stated_batch, std::size_t epoch) const {
  Choice best;
  const double low = std::max(batch_min(), limits_.local_min * replicas);
  const double high = batch_max();
  if (low > high) return best;
  const double stated =
      std::clamp(static_cast<double>(stated_batch), static_cast<double>(batch_min()), high);
  const double unit = worth(stated, epoch);
  for (int i = 0; i < kBatchesTried; ++i) {
    const double wanted = low * std::pow(high / low, i / (kBatchesTried - 1.0));
    // A replica that cannot hold its part at once goes through it in several passes, and exchanges
    // gradients after the last. One alone needs two, or noise and mean could not be separated.
    const double part = wanted / replicas;
    double passes = std::ceil(part / limits_.local_max - 1e-8);
    if (replicas == 1 && part > batch_min() + 1e-8) passes = std::max(passes, 2.0);
    const double local = std::ceil(part / passes - 1e-8);
    if (local < limits_.local_min || local > limits_.local_max) continue;
    const double batch = std::min(local * passes * replicas, high);
    const double seconds =
        steps_.step_s(nodes, replicas, local) + (passes - 1) * steps_.compute_s(local);
    const double speed = worth(batch, epoch) / unit / seconds;
    if (speed > best.iterations_per_s) best = {batch, speed};
  }
  return best;
}

}  // namespace orrery
