#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "training/sync/task.h"
#include "training/trainer/shard/shard_layout.h"
#include "training/trainer/transport/host.h"
#include "training/trainer/transport/part.h"

namespace orrery {

// Parameters that arrive from shards or from a parent, and which version they are.
class IncomingParameters {
 public:
  void resize(std::span<const float> first) { values_.assign(first.begin(), first.end()); }
  std::span<const float> values() const { return values_; }
  // Where the piece goes that arrives next; null: all of them. The version is not known then.
  std::vector<std::span<float>> overwrite(const ShardPlace* place);
  void complete(ParameterVersion version) { version_ = version; }
  bool is_complete() const { return version_ >= 0; }
  ParameterVersion version() const { return version_; }  // -1: incomplete
  std::shared_ptr<const std::vector<float>> copy();      // the same one until something arrives

 private:
  std::vector<float> values_{};
  ParameterVersion version_ = -1;
  std::shared_ptr<const std::vector<float>> copy_{};
};

// What the parts of a worker share: its process, its model, its task and its parameters.
struct WorkerContext {
  explicit WorkerContext(const TrainPorts& train_ports) : ports(train_ports) {}

  std::size_t count() const { return incoming.values().size(); }
  Result<std::shared_ptr<Connection>> connect(const std::string& address, std::uint16_t port,
                                              Connection::Handlers handlers, std::uint64_t floats);
  // Nothing is computed while something is being sent from the model's memory.
  void send_gradient(Connection& to, const Gradient& gradient,
                     std::vector<std::span<const float>> values, std::shared_ptr<const void> keep);

  const TrainPorts& ports;
  std::unique_ptr<Part> part{};
  std::unique_ptr<Learner> learner{};
  std::unique_ptr<Host> host{};
  IncomingParameters incoming{};
  std::optional<Task> task{};  // that is not being computed yet
  bool computing = false;
  int sends_under_way = 0;
};

// Parameters that a parent has to pass on to a child for a task. With a tree, of this version.
struct PendingParameters {
  std::int64_t task = 0;
  WorkerId child{};
  ParameterVersion version = 0;
};

}  // namespace orrery
