#include "training/mode_selection/stragglers/straggler.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// The range that one set of normal values in a hundred exceeds grows by about this part of that of
// two with every doubling of their number (2, 8 and 32: 3.6, 5.0 and 6.0 deviations).
constexpr double kRangeOfDouble = 0.17;
constexpr int kSureLooks = 2;  // where one would do

double range_of_many(std::size_t values) {
  return values > 2 ? 1 + kRangeOfDouble * std::log2(static_cast<double>(values) / 2) : 1;
}

}  // namespace

std::vector<bool> slower_than_fastest(std::span<const WorkerTime> times, double share,
                                      const StragglerOptions& options) {
  std::vector<bool> slow(times.size());
  if (times.empty()) return slow;
  const WorkerTime fastest = *std::ranges::min_element(times, {}, &WorkerTime::seconds);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double behind = times[i].seconds - fastest.seconds;
    const double noise = std::hypot(times[i].noise_s, fastest.noise_s);
    slow[i] = behind > share * fastest.seconds && behind > seconds(options.floor) &&
              behind > options.noise * noise;
  }
  return slow;
}

std::vector<bool> surely_slower(std::span<const WorkerTime> times, StragglerOptions options) {
  double mean = 0;
  for (const WorkerTime& time : times) {
    mean += time.noise_s / time.seconds / static_cast<double>(times.size());
  }
  std::vector<WorkerTime> alike(times.begin(), times.end());
  for (WorkerTime& time : alike) time.noise_s = std::max(time.noise_s, mean * time.seconds);
  options.noise *= range_of_many(times.size());
  return slower_than_fastest(alike, options.enter, options);
}

double straggling_degree(std::span<const WorkerTime> times) {
  double sum = 0;
  double longest = 0;
  for (const WorkerTime& time : times) {
    sum += time.seconds;
    longest = std::max(longest, time.seconds);
  }
  return sum > 0 ? longest / (sum / static_cast<double>(times.size())) - 1 : 0;
}

void StragglerWatch::look(std::span<const WorkerTime> times, bool be_sure) {
  const std::vector<bool> enters = be_sure ? surely_slower(times, options_)
                                           : slower_than_fastest(times, options_.enter, options_);
  // A known straggler has recovered when it is close to the fastest. Times that scatter too much
  // are no proof of that.
  StragglerOptions without_proof = options_;
  without_proof.noise = 0;
  const std::vector<bool> stays = slower_than_fastest(times, options_.leave, without_proof);
  std::vector<State> states;
  stragglers_.clear();
  for (std::size_t i = 0; i < times.size(); ++i) {
    State state{.worker = times[i].worker};
    const auto known = std::ranges::find(states_, times[i].worker, &State::worker);
    if (known != states_.end()) state = *known;
    const bool otherwise = state.straggles ? !stays[i] : enters[i];
    state.against = otherwise ? state.against + 1 : 0;
    if (state.against >= (be_sure ? kSureLooks : 1) * options_.patience) {
      state.straggles = !state.straggles;
      state.against = 0;
    }
    if (state.straggles) stragglers_.push_back(state.worker);
    states.push_back(state);
  }
  states_ = std::move(states);
}

void StragglerWatch::learn(std::span<const WorkerId> workers) {
  for (const WorkerId worker : workers) {
    auto at = std::ranges::lower_bound(states_, worker, {}, &State::worker);
    if (at == states_.end() || at->worker != worker) at = states_.insert(at, {.worker = worker});
    at->straggles = true;
    at->against = 0;
  }
  stragglers_.clear();
  for (const State& state : states_) {
    if (state.straggles) stragglers_.push_back(state.worker);
  }
}

bool StragglerWatch::straggles(WorkerId worker) const {
  return std::ranges::binary_search(stragglers_, worker);
}

}  // namespace orrery
