#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "training/step_trace/step_trace_text.h"

namespace orrery {

// A gradient as its worker and the head saw it. Times are of the head's clock.
struct RecordedGradient {
  std::int64_t task = 0;
  int worker = 0;
  std::int64_t version = 0;  // of the parameters it was computed with
  double ordered_s = 0;      // the task was sent to the worker
  double receive_s = 0;      // until the worker had the parameters
  double compute_s = 0;      // and then computed
  double arrived_s = 0;      // the gradient was there whole
};

// Makes a step trace of a training run in which each worker holds the whole model. A step is an
// update. Recorded are those to which every worker gave one gradient of the version before; other
// updates, such as those of modes that do not wait for all, are counted.
class StepRecorder {
 public:
  enum class Kind {
    ParameterServer,  // parameters are received and gradients sent: no worker waits for another
    AllReduce,        // workers sum gradients together
  };
  // Only updates by this many workers are recorded.
  StepRecorder(Kind kind, int workers) : kind_(kind), workers_(workers) {}

  void gradient(const RecordedGradient& gradient);
  // This update is made of the gradients of these tasks.
  void update(std::int64_t version, std::span<const std::int64_t> tasks);
  // All-reduce: this worker has made the update.
  void summed(std::int64_t version, int worker, double at_s);
  // Text of the trace since the last call, with the header first.
  std::string take() { return std::exchange(text_, {}); }

  std::int64_t recorded() const { return recorded_; }
  std::int64_t left_out() const { return left_out_; }

 private:
  struct Sum {
    std::vector<RecordedGradient> gradients;
    std::map<int, double> done_s;  // by worker
  };

  bool is_whole(std::int64_t version, const std::vector<RecordedGradient>& gradients);
  void write(std::int64_t version, const std::vector<RecordedGradient>& gradients,
             const std::map<int, double>& summed_s);

  const Kind kind_;
  const int workers_;
  std::string text_ = step_trace_header();
  std::map<std::int64_t, RecordedGradient> gradients_;  // not in an update yet, by task
  std::map<std::int64_t, Sum> sums_;                    // under way, by version
  std::set<int> members_;                               // of all recorded steps
  std::int64_t recorded_ = 0, left_out_ = 0;
};

}  // namespace orrery
