#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "training/trainer/checkpoint/checkpoint.h"

namespace orrery {

// Keeps the model of the best evaluation on the disk, beside the checkpoints that a run goes on
// from: the highest accuracy, and of equal ones the least loss. One write is under way at a time;
// what is better meanwhile replaces what waits. Lives on the thread of `io`, writes on `writer`.
class BestKeeper {
 public:
  // Called after each write, with how it went.
  using Written = std::function<void(const Status&)>;
  // Without a folder nothing is written, and the best is known all the same.
  BestKeeper(boost::asio::io_context& io, boost::asio::thread_pool& writer, std::string folder,
             Written written, CheckpointGuard guard = {});

  // The best of earlier sessions, if there is one that is whole.
  void recall();
  bool improves(const EvaluatedVersion& judged) const;
  // `checkpoint` holds the judged parameters and says how they were judged; it improves.
  void keep(std::shared_ptr<Checkpoint> checkpoint);
  bool busy() const { return writing_; }

  const std::optional<EvaluatedVersion>& best() const { return best_; }
  const std::optional<EvaluatedVersion>& on_disk() const { return on_disk_; }

 private:
  void write(const std::shared_ptr<Checkpoint>& checkpoint);

  boost::asio::io_context& io_;
  boost::asio::thread_pool& writer_;
  const std::string folder_;
  const Written written_;
  const CheckpointGuard guard_;
  std::optional<EvaluatedVersion> best_{}, on_disk_{};
  std::shared_ptr<Checkpoint> waiting_{};
  bool writing_ = false;
};

}  // namespace orrery
