#include "training/trainer/head/run_context.h"

#include <filesystem>

namespace orrery {
namespace {

RunGoal goal_of(const RunOptions& options) {
  const auto limit_s = time_limit_s(options);
  return {.samples = samples_limit(options),
          .time_s = limit_s.ok() ? limit_s.value() : 0,
          .accuracy = options.target};
}

}  // namespace

Time TrainingClock::now() const {
  if (!running_) return Time(before_);
  return Time(before_ +
              std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_));
}

void TrainingClock::begin() {
  began_ = std::chrono::steady_clock::now();
  running_ = true;
}

void TrainingClock::pause() {
  before_ = now().time_since_epoch();
  running_ = false;
}

RunContext::RunContext(const RunOptions& run_options, const TrainPorts& train_ports)
    : options(run_options),
      ports(train_ports),
      progress(!run_options.quiet),
      pace(goal_of(run_options)) {}

RunContext::~RunContext() {
  writer.join();
  std::error_code ignored;
  if (own_folder) std::filesystem::remove_all(folder, ignored);
}

void RunContext::warn(const std::string& text) {
  tally.warnings.push_back(text);
  progress.say(text);
}

void RunContext::fail(const Error& error) {
  if (over) return;
  over = true;
  failure = error;
}

}  // namespace orrery
