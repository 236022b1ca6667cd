#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/sync/order.h"
#include "training/trainer/head/part_state.h"
#include "training/trainer/shard/shard_layout.h"

namespace orrery {

struct RunningTask;

// How parameters and gradients travel between the processes of a run, and where updates are made:
// at shards, or in the ring of an all-reduce. It carries out the Conductor's orders about them and
// reports what came of it to the Conductor.
class ParameterExchange {
 public:
  virtual ~ParameterExchange() = default;

  // A session begins. Its parameters are of this version.
  virtual void begin(ParameterVersion version) = 0;
  // The model's shape is known: starts what is missing.
  virtual Status start() { return {}; }
  virtual bool ready() const = 0;  // workers may be admitted
  // The parameters that a shard or a worker holds.
  virtual ShardPlace place_of(const PartState& part) const = 0;
  virtual void worker_has(int /*worker*/, ParameterVersion /*version*/) {}

  // All orders of one round, before they are carried out.
  virtual void look_ahead(const std::vector<Order>& /*orders*/) {}
  // Lets the worker of a task have its parameters.
  virtual void send_parameters(RunningTask& task) = 0;
  virtual void apply(const ApplyUpdate& order) = 0;
  virtual void drop(std::int64_t task) = 0;
  virtual void form(const FormRing& /*order*/) {}
  virtual void form(const FormTree& /*order*/) {}

  // What processes report.
  virtual int pieces_needed() const = 0;
  virtual void piece_came(PartRole role, int from, MessageFrame& frame) = 0;
  virtual void applied(int from, ParameterVersion version, const AppliedMessage& message) = 0;
  virtual void task_completed(WorkerId /*worker*/) {}
  virtual void ring_formed(int /*worker*/, MessageFrame& /*frame*/) {}
  virtual void link_measured(PartState& /*worker*/, const MessageFrame& /*frame*/) {}
  // A parent does not have the parameters that a child's task begins with.
  virtual void parent_has_none(std::int64_t /*task*/) {}

  // Asks for the parameters; returns the parts that will answer, by their numbers.
  virtual std::set<int> ask_for_parameters(std::int64_t number, bool for_checkpoint) = 0;
  // Hands a validation gradient to where gradients are compared with it.
  virtual void send_validation(std::int64_t /*number*/, const std::vector<float>& /*gradient*/) {}

  // Workers that an update waits for.
  virtual std::set<int> waiting() const { return {}; }
  virtual void watch() {}          // about once a second
  virtual void measure_links() {}  // about once a second while training
  // A worker is gone: before, and after, the Conductor hears of it.
  virtual void forget(int worker) = 0;
  virtual void after_loss(int worker) = 0;
};

}  // namespace orrery
