#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "training/trainer/worker/worker_context.h"

namespace orrery {

// A worker's connections to the shards: pieces of the parameters come from all of them, and a
// gradient goes to all of them in pieces.
class ShardLinks {
 public:
  ShardLinks(WorkerContext& worker, std::function<void()> parameters_came)
      : worker_(worker), parameters_came_(std::move(parameters_came)) {}

  Status connect(const PeersMessage& peers);
  bool have_sent(std::int64_t task) const;
  void hand_in(const Gradient& gradient, std::span<const float> values,
               const std::shared_ptr<const void>& keep);

 private:
  void piece_came(std::size_t shard, MessageFrame& frame);
  void closed(const Error& why);

  WorkerContext& worker_;
  const std::function<void()> parameters_came_;
  std::vector<ShardPlace> places_{};
  std::vector<std::shared_ptr<Connection>> shards_{};
  std::vector<std::int64_t> arrived_{};  // from each: the task whose parameters came last
  std::unique_ptr<boost::asio::steady_timer> lost_{};
};

}  // namespace orrery
