#include "training/libtorch/lstm_predictor.h"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "training/libtorch/network.h"
#include "training/libtorch/torch_error.h"
#include "training/libtorch/weights_file.h"

namespace orrery {
namespace {

constexpr const char* kPredictorKind = "lstm-predictor";
constexpr int kResources = 4;
constexpr int kInputs = kResources + 1;
constexpr std::int64_t kWindowsAStep = 64, kWindowsAJudgement = 1000;
// A factor beyond this between neighbours is a hiccup, not a trend.
constexpr double kLargestLog = 5;

class PredictorNetwork : public torch::nn::Module {
 public:
  PredictorNetwork(int hidden, int horizon)
      : horizon_(horizon),
        lstm_(register_module(
            "lstm", torch::nn::LSTM(
                        torch::nn::LSTMOptions(kInputs, hidden).num_layers(2).batch_first(true)))),
        resources_(register_module("resources", torch::nn::Linear(hidden, horizon * kResources))),
        hidden_(register_module("hidden", torch::nn::Linear(hidden + kResources + 1, 64))),
        times_(register_module("times", torch::nn::Linear(64, 1))) {}

  // Windows x time x inputs; gives back resources (windows x horizon x 4, z-scored) and log times
  // relative to the last (windows x horizon).
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& windows) {
    const auto state = std::get<0>(lstm_(windows)).select(1, -1);
    const auto used = resources_(state).view({-1, horizon_, kResources});
    const auto steps = torch::linspace(0, 1, horizon_).view({1, horizon_, 1});
    const auto seen = torch::cat({state.unsqueeze(1).expand({-1, horizon_, -1}), used,
                                  steps.expand({state.size(0), -1, -1})},
                                 2);
    return {used, times_(torch::relu(hidden_(seen))).squeeze(2)};
  }

 private:
  std::int64_t horizon_;
  torch::nn::LSTM lstm_;
  torch::nn::Linear resources_, hidden_, times_;
};

// One iteration as the network's inputs before scaling: what was used, then the logarithm of
// seconds a sample.
using Row = std::array<float, kInputs>;

double log_time(const IterationSample& sample) {
  return std::log(std::max(seconds(sample.took), 1e-9) / std::max(sample.samples, 1));
}

Row row_of(const IterationSample& sample) {
  const auto logarithm = [](double value) {
    return static_cast<float>(std::log1p(std::max(value, 0.0)));
  };
  return {static_cast<float>(sample.usage.cpu_share),
          static_cast<float>(sample.usage.throttled_share), logarithm(sample.usage.in_bytes_per_s),
          logarithm(sample.usage.out_bytes_per_s), static_cast<float>(log_time(sample))};
}

std::vector<Row> rows_of(const IterationHistory& history) {
  std::vector<Row> rows;
  for (const IterationSample& sample : history.samples) rows.push_back(row_of(sample));
  return rows;
}

struct Scales {
  std::vector<double> mean = std::vector<double>(kInputs, 0);
  std::vector<double> deviation = std::vector<double>(kInputs, 1);
};

// A window ending before `end`, scaled, times relative to its last; padded at the front with the
// oldest there is.
void append_window(const std::vector<Row>& rows, std::int64_t end, int window, const Scales& scales,
                   std::vector<float>& values) {
  const float last = rows[static_cast<std::size_t>(end - 1)][kResources];
  for (std::int64_t at = end - window; at < end; ++at) {
    const Row& row = rows[static_cast<std::size_t>(std::max<std::int64_t>(at, 0))];
    for (std::size_t i = 0; i < kInputs; ++i) {
      const double value = i == kResources ? row[i] - last : row[i] - scales.mean[i];
      values.push_back(static_cast<float>(
          std::clamp(value / scales.deviation[i], -2 * kLargestLog, 2 * kLargestLog)));
    }
  }
}

// Windows to learn from or to judge by, one after the other.
struct Windows {
  std::int64_t count = 0;
  std::vector<float> inputs{}, resources{}, times{};
};

void append_example(const std::vector<Row>& rows, std::int64_t end,
                    const LstmPredictorOptions& options, const Scales& scales, Windows& windows) {
  ++windows.count;
  append_window(rows, end, options.window, scales, windows.inputs);
  const float last = rows[static_cast<std::size_t>(end - 1)][kResources];
  for (std::int64_t at = end; at < end + options.horizon; ++at) {
    const Row& row = rows[static_cast<std::size_t>(at)];
    for (std::size_t i = 0; i < kResources; ++i) {
      windows.resources.push_back(
          static_cast<float>((row[i] - scales.mean[i]) / scales.deviation[i]));
    }
    windows.times.push_back(std::clamp(row[kResources] - last, static_cast<float>(-kLargestLog),
                                       static_cast<float>(kLargestLog)));
  }
}

std::int64_t split_of(const std::vector<Row>& rows, const LstmPredictorOptions& options) {
  return static_cast<std::int64_t>(static_cast<double>(rows.size()) * (1 - options.held_out));
}

// Means and deviations over what is learned from alone. Of times, the deviation of their
// differences, since they are seen relative to the last.
Scales scales_of(const std::vector<std::vector<Row>>& series, const LstmPredictorOptions& options) {
  Scales scales;
  for (std::size_t i = 0; i < kInputs; ++i) {
    double sum = 0, squares = 0, count = 0;
    for (const auto& rows : series) {
      for (std::int64_t at = 1; at < split_of(rows, options); ++at) {
        const auto here = static_cast<std::size_t>(at);
        const double value =
            i == kResources ? rows[here][i] - rows[here - 1][i] : double{1} * rows[here][i];
        sum += value, squares += value * value, ++count;
      }
    }
    if (count < 1) continue;
    scales.mean[i] = sum / count;
    const double variance = squares / count - scales.mean[i] * scales.mean[i];
    scales.deviation[i] = std::max(std::sqrt(std::max(variance, 0.0)), 1e-3);
  }
  return scales;
}

struct WindowTensors {
  torch::Tensor inputs, resources, times;
};
WindowTensors tensors_of(Windows& windows, const LstmPredictorOptions& options) {
  return {tensor_of(windows.inputs, {windows.count, options.window, kInputs}),
          tensor_of(windows.resources, {windows.count, options.horizon, kResources}),
          tensor_of(windows.times, {windows.count, options.horizon})};
}

class FittedPredictor : public LstmPredictor {
 public:
  FittedPredictor(const LstmPredictorOptions& options, Scales scales)
      : options_(options),
        scales_(std::move(scales)),
        network_(std::make_shared<PredictorNetwork>(options.hidden, options.horizon)) {
    set_first_parameters(*network_, options.seed);
    // The first word of the time head is "as it was last".
    const torch::NoGradGuard no_grad;
    network_->named_parameters()["times.weight"].zero_();
  }

  std::string_view name() const override { return "lstm"; }
  const LstmPredictorFit& fit() const override { return fit_; }
  PredictorNetwork& network() { return *network_; }

  std::vector<double> predict(const IterationHistory& history, int steps) override {
    if (history.samples.empty() || steps <= 0) return {};
    const auto newest =
        std::min<std::size_t>(history.samples.size(), static_cast<std::size_t>(options_.window));
    IterationHistory seen{.worker = history.worker,
                          .samples = {history.samples.end() - static_cast<std::ptrdiff_t>(newest),
                                      history.samples.end()}};
    const std::vector<Row> rows = rows_of(seen);
    std::vector<float> inputs;
    append_window(rows, static_cast<std::int64_t>(rows.size()), options_.window, scales_, inputs);
    const double last = std::exp(double{1} * rows.back()[kResources]);
    std::vector<double> found(static_cast<std::size_t>(steps), last);
    try {
      const torch::NoGradGuard no_grad;
      const auto times =
          network_->forward(tensor_of(inputs, {1, options_.window, kInputs})).second.contiguous();
      for (int i = 0; i < steps; ++i) {
        const float change = times.data_ptr<float>()[std::min(i, options_.horizon - 1)];
        found[static_cast<std::size_t>(i)] =
            last * std::exp(std::clamp(double{1} * change, -kLargestLog, kLargestLog));
      }
    } catch (const std::exception&) {
      // What stays is the last value: a forecast is asked for, not an excuse.
    }
    return found;
  }

  void learn(const WindowTensors& windows) {
    network_->train();
    torch::optim::Adam optimizer(network_->parameters(), torch::optim::AdamOptions(options_.rate));
    Random random(options_.seed);
    const std::int64_t count = windows.inputs.size(0);
    for (int step = 0; step < options_.steps; ++step) {
      std::vector<std::int64_t> chosen;
      for (std::int64_t i = 0; i < std::min(kWindowsAStep, count); ++i) {
        chosen.push_back(random.between(0, count - 1));
      }
      const auto index = torch::tensor(chosen);
      const auto [used, times] = network_->forward(windows.inputs.index_select(0, index));
      // Least absolute error makes it say the median, which one hiccup does not move.
      const auto loss = torch::l1_loss(times, windows.times.index_select(0, index)) +
                        0.1 * torch::l1_loss(used, windows.resources.index_select(0, index));
      optimizer.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(network_->parameters(), 1.0);
      optimizer.step();
    }
  }

  void judge(const WindowTensors& held_out, std::int64_t windows) {
    const torch::NoGradGuard no_grad;
    network_->eval();
    const std::int64_t count = held_out.inputs.size(0);
    double error = 0, error_of_last = 0;
    for (std::int64_t first = 0; first < count; first += kWindowsAJudgement) {
      const std::int64_t some = std::min(kWindowsAJudgement, count - first);
      const auto times = network_->forward(held_out.inputs.narrow(0, first, some)).second;
      const auto facts = held_out.times.narrow(0, first, some);
      error += (times - facts).abs().sum().item<double>();
      error_of_last += facts.abs().sum().item<double>();
    }
    const auto all = static_cast<double>(held_out.times.numel());
    fit_ = {.windows = windows,
            .windows_held_out = count,
            .error = error / all,
            .error_of_last = error_of_last / all};
  }

  Status save(const std::string& path) const override {
    return save_weights(path, kPredictorKind,
                        {{"window", options_.window},
                         {"horizon", options_.horizon},
                         {"hidden", options_.hidden},
                         {"mean", scales_.mean},
                         {"deviation", scales_.deviation},
                         {"windows", fit_.windows},
                         {"windows_held_out", fit_.windows_held_out},
                         {"error", fit_.error},
                         {"error_of_last", fit_.error_of_last}},
                        *network_);
  }

  void set_fit(const LstmPredictorFit& fit) { fit_ = fit; }

 private:
  LstmPredictorOptions options_;
  Scales scales_;
  std::shared_ptr<PredictorNetwork> network_;
  LstmPredictorFit fit_{};
};

}  // namespace

Result<std::unique_ptr<LstmPredictor>> fit_lstm_predictor(std::span<const IterationHistory> logged,
                                                          const LstmPredictorOptions& options) {
  if (options.window < 1 || options.horizon < 1 || options.hidden < 1 || options.steps < 0 ||
      !(options.held_out > 0 && options.held_out < 1)) {
    return invalid("window, horizon and hidden are at least 1, held_out is between 0 and 1");
  }
  std::vector<std::vector<Row>> series;
  for (const IterationHistory& history : logged) series.push_back(rows_of(history));
  const Scales scales = scales_of(series, options);
  Windows known, held_out;
  for (const auto& rows : series) {
    const std::int64_t split = split_of(rows, options);
    const auto size = static_cast<std::int64_t>(rows.size());
    // Nothing that is learned from reaches past the split, and nothing that is judged before it.
    for (std::int64_t end = options.window; end + options.horizon <= split; ++end) {
      append_example(rows, end, options, scales, known);
    }
    for (std::int64_t end = std::max<std::int64_t>(split, options.window);
         end + options.horizon <= size; ++end) {
      append_example(rows, end, options, scales, held_out);
    }
  }
  if (known.count == 0 || held_out.count == 0) {
    return Error{Code::FailedPrecondition,
                 "the logged series are too short to learn from: the part for learning needs more "
                 "than " +
                     std::to_string(options.window + options.horizon) +
                     " iterations of a worker, the part for judging " +
                     std::to_string(options.horizon)};
  }
  try {
    auto predictor = std::make_unique<FittedPredictor>(options, scales);
    predictor->learn(tensors_of(known, options));
    predictor->judge(tensors_of(held_out, options), known.count);
    return std::unique_ptr<LstmPredictor>(std::move(predictor));
  } catch (const std::exception& caught) {
    return torch_error("fitting the predictor", caught);
  }
}

Result<std::unique_ptr<LstmPredictor>> load_lstm_predictor(const std::string& path) {
  TRY_ASSIGN(const auto file, read_weights(path, kPredictorKind));
  const auto read = [&]() -> Result<std::unique_ptr<LstmPredictor>> {
    LstmPredictorOptions options;
    TRY_ASSIGN(options.window, whole_of(file, "window", 1, 1000));
    TRY_ASSIGN(options.horizon, whole_of(file, "horizon", 1, 1000));
    TRY_ASSIGN(options.hidden, whole_of(file, "hidden", 1, 1024));
    Scales scales;
    TRY_ASSIGN(scales.mean, numbers_of(file, "mean", kInputs));
    TRY_ASSIGN(scales.deviation, numbers_of(file, "deviation", kInputs));
    for (const double deviation : scales.deviation) {
      if (!(deviation > 0)) return invalid("'deviation' must be above 0");
    }
    LstmPredictorFit fit;
    constexpr int kMany = 1 << 30;
    TRY_ASSIGN(fit.windows, whole_of(file, "windows", 0, kMany));
    TRY_ASSIGN(fit.windows_held_out, whole_of(file, "windows_held_out", 0, kMany));
    TRY_ASSIGN(fit.error, number_of(file, "error"));
    TRY_ASSIGN(fit.error_of_last, number_of(file, "error_of_last"));
    auto predictor = std::make_unique<FittedPredictor>(options, scales);
    TRY(set_weights(predictor->network(), file));
    predictor->network().eval();
    predictor->set_fit(fit);
    return std::unique_ptr<LstmPredictor>(std::move(predictor));
  };
  try {
    auto loaded = read();
    if (!loaded.ok()) return std::move(loaded).error().at(path);
    return loaded;
  } catch (const std::exception& caught) {
    return torch_error(path, caught);
  }
}

}  // namespace orrery
