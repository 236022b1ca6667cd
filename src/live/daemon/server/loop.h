#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "live/api/agent_link.h"
#include "live/daemon/answers/queries.h"
#include "live/daemon/core/core.h"
#include "live/daemon/server/clock.h"
#include "live/store/committer.h"

namespace orrery {

// One thread that owns a core, and the way in and out of it. Tasks are run in the order in which
// they came; what a task wants said or sent is kept until all records written so far are on disk.
class Loop {
 public:
  struct Options {
    // After a commit, on the loop's thread: the records that are now on disk.
    std::function<void(std::vector<Record>)> on_durable{};
    std::function<void(std::int64_t connection, Orders orders)> send{};
    std::function<void(Core& core, const LogPiece& piece)> on_log{};
    std::function<void(Core& core, Time now)> on_pass{};  // once a pass, after its tasks
    std::function<void(const Error& error)> on_failure{};
    std::function<Time()> also_due{};  // when a pass is due besides the core's own
  };

  Loop(std::unique_ptr<Core> core, Clock clock, Store store, Options options);
  ~Loop();

  // From any thread. A task that comes after close() is dropped.
  void post(std::function<void(Core& core, Time now)> task);
  // From a task: done when what has been written so far is on disk; on the loop's thread.
  void when_durable(std::function<void()> effect);
  // Takes no more tasks, does what has come, and writes it down.
  Status close();

  // From a task: hands what has been written so far to the disk now.
  void write_down();
  // From a task.
  Committer& committer() { return *committer_; }
  LoopFigures figures() const { return figures_; }
  std::int64_t last_sequence() const { return appended_; }

 private:
  void run();
  void pass(std::vector<std::function<void(Core&, Time)>> tasks);
  void release();

  struct Effect {
    std::int64_t after = 0;
    std::function<void()> done{};
  };

  std::unique_ptr<Core> core_;
  Clock clock_;
  Options options_;
  LoopFigures figures_;
  std::deque<Effect> effects_;
  std::deque<Record> unsaid_;  // written, not yet on disk
  std::int64_t appended_ = 0;
  std::int64_t released_ = 0;
  std::chrono::steady_clock::time_point
      gathered_{};    // until then tasks and rounds wait for the disk
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::vector<std::function<void(Core&, Time)>> tasks_;
  std::int64_t durable_ = 0;
  std::optional<Error> failed_;
  bool closing_ = false;
  std::unique_ptr<Committer> committer_;
  std::thread thread_;
};

}  // namespace orrery
