#pragma once

#include <memory>
#include <span>

#include "training/trainer/transport/setup.h"
#include "training/trainer/worker/worker_context.h"

namespace orrery {

// How a worker gets its parameters and where its gradients go: to shards, over a tree, or within a
// ring.
class GradientPath {
 public:
  virtual ~GradientPath() = default;

  // A message of the head that Worker does not handle itself.
  virtual void act(MessageFrame& frame) = 0;
  // The shards, or none. An error ends the worker.
  virtual Status meet(const PeersMessage& peers) = 0;
  virtual void welcome_child(const std::shared_ptr<Connection>& connection, const Hello& hello) = 0;
  virtual bool has_children() const = 0;

  virtual void task_begins() = 0;  // `WorkerContext::task` is the new one
  virtual bool has_parameters(const Task& task) const = 0;
  virtual std::span<const float> parameters() = 0;
  virtual void hand_in(Gradient gradient, double took_s) = 0;
  virtual bool handing_in() const = 0;  // the last gradient still waits for others
};

std::unique_ptr<GradientPath> make_tree_path(WorkerContext& worker);
std::unique_ptr<GradientPath> make_ring_path(WorkerContext& worker, const PartSetup& setup);

}  // namespace orrery
