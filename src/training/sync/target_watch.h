#pragma once

#include <deque>
#include <optional>

namespace orrery {

// When training is at its target. The accuracy scatters from one evaluation to the next, and a
// single high one comes too early. So the mean of several in a row decides, and when it got there
// is read off between the last mean below and the first that is not, each in the middle of its
// evaluations.
class TargetWatch {
 public:
  static constexpr int kOver = 2;

  explicit TargetWatch(double target, int over = kOver);  // a target of 0 is never reached

  void add(double at_s, double accuracy);  // in the order in which they were made
  std::optional<double> reached_s() const { return reached_s_; }

 private:
  struct Point {
    double at_s = 0;
    double accuracy = 0;
  };
  double target_;
  std::size_t over_;
  std::deque<Point> last_{};
  std::optional<Point> below_{};
  std::optional<double> reached_s_{};
};

}  // namespace orrery
