#include "training/mode_selection/stragglers/predictor_score.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace orrery {
namespace {

struct Step {
  Time at{};
  std::size_t worker = 0;
  std::size_t iteration = 0;
};

// All iterations of all workers in the order they ended.
std::vector<Step> in_order(std::span<const IterationHistory> series) {
  std::vector<Step> steps;
  for (std::size_t w = 0; w < series.size(); ++w) {
    for (std::size_t i = 0; i < series[w].samples.size(); ++i) {
      steps.push_back({.at = series[w].samples[i].at, .worker = w, .iteration = i});
    }
  }
  std::ranges::sort(
      steps, {}, [](const Step& step) { return std::tuple(step.at, step.worker, step.iteration); });
  return steps;
}

double mean_batch(std::span<const IterationHistory> series) {
  double sum = 0;
  double count = 0;
  for (const IterationHistory& history : series) {
    for (const IterationSample& sample : history.samples) sum += sample.samples;
    count += static_cast<double>(history.samples.size());
  }
  return count > 0 ? sum / count : 0;
}

double median_around(const IterationHistory& history, std::size_t i) {
  const auto& samples = history.samples;
  const std::size_t last = samples.size() - 1;
  double values[3] = {seconds_a_sample(samples[i == 0 ? 0 : i - 1]), seconds_a_sample(samples[i]),
                      seconds_a_sample(samples[std::min(last, i + 1)])};
  std::sort(values, values + 3);
  return values[1];
}

class Judge {
 public:
  Judge(std::span<const IterationHistory> series, const PredictorScoreOptions& options)
      : series_(series),
        options_(options),
        batch_(options.batch > 0 ? options.batch : mean_batch(series)),
        steps_(in_order(series)) {
    find_facts();
  }

  PredictorScore score(IterationPredictor& predictor) const {
    PredictorScore score{.name = std::string(predictor.name())};
    std::vector<IterationHistory> seen(series_.size());
    std::vector<std::vector<double>> predicted(series_.size());
    // By worker and distance: for how many iterations in a row straggling at that very iteration
    // has been predicted.
    std::vector<std::vector<int>> said(series_.size());
    for (std::size_t w = 0; w < series_.size(); ++w) {
      seen[w].worker = series_[w].worker;
      said[w].assign(series_[w].samples.size(), 0);
    }
    for (const Step& step : steps_) {
      IterationHistory& history = seen[step.worker];
      history.samples.push_back(series_[step.worker].samples[step.iteration]);
      if (history.samples.size() < static_cast<std::size_t>(options_.warm_up)) continue;
      predicted[step.worker] = predictor.predict(history, options_.horizon);
      count(step, predicted, said[step.worker], score);
    }
    count_onsets(said, score);
    if (score.predicted > 0) score.error /= static_cast<double>(score.predicted);
    if (score.onsets > 0) score.lead_iterations /= static_cast<double>(score.onsets);
    return score;
  }

 private:
  void find_facts() {
    std::vector<double> newest(series_.size());
    facts_.resize(series_.size());
    for (const Step& step : steps_) {
      newest[step.worker] = median_around(series_[step.worker], step.iteration) * batch_;
      facts_[step.worker].push_back(straggles(newest, step.worker));
    }
  }

  // Among workers with a history.
  bool straggles(const std::vector<double>& times, std::size_t worker) const {
    std::vector<WorkerTime> known;
    std::size_t mine = 0;
    for (std::size_t w = 0; w < times.size(); ++w) {
      if (!(times[w] > 0)) continue;
      if (w == worker) mine = known.size();
      known.push_back({.worker = series_[w].worker, .seconds = times[w]});
    }
    return times[worker] > 0 &&
           slower_than_fastest(known, options_.straggler.enter, options_.straggler)[mine];
  }

  void count(const Step& step, const std::vector<std::vector<double>>& predicted,
             std::vector<int>& said, PredictorScore& score) const {
    const std::vector<IterationSample>& samples = series_[step.worker].samples;
    for (std::size_t h = 0; h < predicted[step.worker].size(); ++h) {
      const std::size_t target = step.iteration + 1 + h;
      if (target >= samples.size()) break;
      std::vector<double> times(series_.size());
      for (std::size_t w = 0; w < times.size(); ++w) {
        if (h < predicted[w].size()) times[w] = predicted[w][h] * batch_;
      }
      const bool says = straggles(times, step.worker);
      const bool fact = facts_[step.worker][target];
      score.true_positives += says && fact;
      score.false_positives += says && !fact;
      score.false_negatives += !says && fact;
      said[target] = says ? said[target] + 1 : 0;
      const double real = seconds_a_sample(samples[target]);
      if (real > 0 && predicted[step.worker][h] > 0) {
        score.error += std::abs(std::log(predicted[step.worker][h] / real));
        ++score.predicted;
      }
    }
  }

  void count_onsets(const std::vector<std::vector<int>>& said, PredictorScore& score) const {
    for (std::size_t w = 0; w < series_.size(); ++w) {
      const auto first = static_cast<std::size_t>(options_.warm_up);
      for (std::size_t i = first + 1; i < facts_[w].size(); ++i) {
        if (!facts_[w][i] || facts_[w][i - 1]) continue;
        ++score.onsets;
        score.lead_iterations += said[w][i];
      }
    }
  }

  std::span<const IterationHistory> series_;
  PredictorScoreOptions options_;
  double batch_;
  std::vector<Step> steps_;
  std::vector<std::vector<bool>> facts_;  // by worker and iteration
};

}  // namespace

double PredictorScore::precision() const {
  const std::int64_t said = true_positives + false_positives;
  return said > 0 ? static_cast<double>(true_positives) / static_cast<double>(said) : 1;
}

double PredictorScore::recall() const {
  const std::int64_t were = true_positives + false_negatives;
  return were > 0 ? static_cast<double>(true_positives) / static_cast<double>(were) : 1;
}

std::vector<PredictorScore> score_predictors(std::span<const IterationHistory> series,
                                             std::span<IterationPredictor* const> predictors,
                                             const PredictorScoreOptions& options) {
  const Judge judge(series, options);
  std::vector<PredictorScore> scores;
  for (IterationPredictor* predictor : predictors) scores.push_back(judge.score(*predictor));
  return scores;
}

}  // namespace orrery
