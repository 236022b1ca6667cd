#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/time.h"
#include "training/result/training_result.h"
#include "training/trainer/head/job_link.h"
#include "training/trainer/head/progress_line.h"
#include "training/trainer/head/run_end.h"
#include "training/trainer/head/run_progress.h"
#include "training/trainer/head/worker_clocks.h"
#include "training/trainer/run_folder/run_log.h"
#include "training/trainer/run_options.h"
#include "training/trainer/transport/part.h"

namespace orrery {

// Training time: it runs while workers train and stands still between sessions.
class TrainingClock {
 public:
  Time now() const;
  bool running() const { return running_; }
  void begin();
  void pause();
  void set(Duration elapsed) { before_ = elapsed; }

 private:
  Duration before_{};  // of earlier sessions
  std::chrono::steady_clock::time_point began_{};
  bool running_ = false;
};

// What the parts of the head share about one run: options, folder, tables, clock and end. One
// thread, but for the writing of checkpoints. `options` have been checked.
class RunContext {
 public:
  RunContext(const RunOptions& options, const TrainPorts& ports);
  ~RunContext();

  Time now() const { return clock.now(); }
  bool training() const { return clock.running(); }
  bool all_reduce() const { return architecture(options) == Architecture::AllReduce; }
  void warn(const std::string& text);  // on standard error and in the result
  void fail(const Error& error);       // the run is over

  const RunOptions options;
  const TrainPorts& ports;
  boost::asio::io_context io{1};
  boost::asio::thread_pool writer{1};
  JobLink job{};
  ProgressLine progress;
  RunProgress pace;
  TrainingClock clock{};
  WorkerClocks worker_clocks{};
  RunTally tally{};
  std::vector<EvaluatedVersion> curve{};
  RunEnd end{};
  std::string folder{};
  bool own_folder = false;  // made for this run, and removed after it
  std::unique_ptr<RunLog> log{};
  bool finishing = false;  // the Conductor has finished; the last writes are under way
  bool over = false;
  Time ended_at{};
  Status failure{};
  std::function<void()> pump{};  // carries out what the Conductor has ordered
};

}  // namespace orrery
