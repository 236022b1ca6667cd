#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "training/emulation/own_quota.h"
#include "training/trainer/worker/gradient_path.h"
#include "training/trainer/worker/worker_context.h"

namespace orrery {

// The process of a worker: computes the tasks that the head gives it, one at a time. Between the
// blocks of a task it looks at its connections, and otherwise waits at them. Only a parent computes
// on a thread of its own, which touches nothing but the learner, while the other one serves the
// children.
class WorkerProcess {
 public:
  explicit WorkerProcess(const TrainPorts& ports) : worker_(ports) {}
  Status run(const PartStart& start);  // under one head; the model stays for the next one

 private:
  // When the task arrived, and what this process had computed by then.
  struct TaskArrival {
    std::chrono::steady_clock::time_point at{};
    std::chrono::steady_clock::time_point begun{};  // the parameters were there, too
    double cpu_s = 0;
  };

  void work(Part& part);
  void leave();
  void from_head(MessageFrame& frame);
  void act(MessageFrame& frame);
  void set_up(MessageFrame& frame);
  void meet_peers(MessageFrame& frame);
  void start_task(MessageFrame& frame);
  bool can_compute() const;
  void compute();
  Result<Gradient> compute_now(const Task& task, const std::function<void()>& between);
  void computed(Result<Gradient> gradient, const TaskArrival& arrival);

  WorkerContext worker_;
  std::unique_ptr<GradientPath> path_{};
  std::deque<MessageFrame> deferred_{};
  TaskArrival arrival_{};              // of the task that is not being computed yet
  std::atomic<std::int64_t> cut_ = 0;  // tasks up to this number are to be cut
  std::atomic<bool> leaving_ = false;
  std::unique_ptr<boost::asio::thread_pool> beside_{};
  std::optional<OwnQuota> quota_{};
};

}  // namespace orrery
