#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace orrery {

// What ends a run; 0: does not.
struct RunGoal {
  std::int64_t samples = 0;
  double time_s = 0;
  double accuracy = 0;
};

// How far a run is. What is unknown is not said.
struct ProgressState {
  std::optional<double> share{};   // done, from 0 to 1
  std::optional<double> left_s{};  // at the pace of this session
  std::string mode{};
  std::int64_t updates = 0;
  std::optional<double> loss{};      // of training, smoothed
  std::optional<double> accuracy{};  // of the newest evaluation
  double target = 0;
};

// Follows a run, sessions before this one included: samples and seconds count from its first start.
// The time left is predicted from this session alone, since an earlier one may have had other
// workers. An accuracy as the only goal gives no time left: how training rises is not known.
class RunProgress {
 public:
  explicit RunProgress(const RunGoal& goal) : goal_(goal) {}

  void begin(std::int64_t samples, double elapsed_s);  // a session
  void gradient(double loss);
  void evaluated(double accuracy) { accuracy_ = accuracy; }

  ProgressState at(std::int64_t samples, double elapsed_s) const;
  const RunGoal& goal() const { return goal_; }
  const std::optional<double>& loss() const { return loss_; }

 private:
  std::optional<double> left_s(std::int64_t samples, double elapsed_s) const;

  const RunGoal goal_;
  std::int64_t samples_first_ = 0;
  double elapsed_first_s_ = 0;
  std::optional<double> loss_{}, accuracy_{};
};

// "40 %, ssgd, 1200 updates, loss 0.4312, accuracy 0.912 of 0.97, 12 s left"
std::string progress_text(const ProgressState& state);

}  // namespace orrery
