#pragma once

#include <span>
#include <vector>

#include "model/event.h"
#include "model/view.h"

namespace orrery {

// All jobs as the events so far have left them. apply() is the only way to change it, so applying a
// log to an empty State rebuilds it; only the number a packer gives a job's shape is added to it.
class State {
 public:
  // Memory for as many nodes and jobs as are expected; there may be more.
  explicit State(std::size_t nodes = 0, std::size_t jobs = 0) : on_nodes_(nodes) {
    jobs_.reserve(jobs);
    running_at_.reserve(jobs);
  }

  void apply(const Event& event);
  // The next job, as it was in another State.
  void restore(Job job);
  void reserve_nodes(std::size_t nodes) {
    if (on_nodes_.size() < nodes) on_nodes_.resize(nodes);
  }

  std::span<const Job> jobs() const { return jobs_; }
  const Job& job(JobId id) const { return jobs_[index(id)]; }
  std::span<const JobId> running() const { return running_; }
  std::span<const std::vector<JobId>> on_nodes() const { return on_nodes_; }
  std::int64_t waiting() const { return waiting_; }  // submitted, not running, not final

  // Nodes that are lost, by the events so far.
  bool is_up(NodeId node) const { return index(node) >= lost_.size() || !lost_[index(node)]; }

  void set_shape(JobId id, ShapeId shape) { jobs_[index(id)].shape = shape; }

 private:
  void hold(Job& job, const Event& event);
  void let_go(Job& job, const Event& event);
  void change_node(const Event& event);
  void leave_nodes(const Job& job, JobId id);

  std::vector<Job> jobs_;
  std::vector<JobId> running_;
  std::vector<std::vector<JobId>> on_nodes_;
  std::vector<std::int32_t> running_at_;  // by job: its place in running_
  std::vector<bool> lost_;                // by node; may be shorter
  std::int64_t waiting_ = 0;
};

}  // namespace orrery
