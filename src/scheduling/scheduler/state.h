#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "model/event.h"
#include "model/view.h"

namespace orrery {

// All jobs as the events so far have left them. apply() is the only way to change it, so applying a
// log to an empty State rebuilds it; only the number a packer gives a job's shape is added to it.
//
// A job that is forgotten has nothing but its final state, and its memory is used again. So memory
// and caches hold the jobs that are open, however many there were.
class State {
 public:
  // Memory for as many nodes and jobs as are expected; there may be more.
  explicit State(std::size_t nodes = 0, std::size_t jobs = 0);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void apply(const Event& event);
  // The next job, as it was in another State.
  void restore(Job job);
  void reserve_nodes(std::size_t nodes) {
    if (on_nodes_.size() < nodes) on_nodes_.resize(nodes);
  }

  JobList jobs() const { return JobList(jobs_); }
  const Job& job(JobId id) const { return *jobs_[index(id)]; }
  std::span<const JobId> running() const { return running_; }
  std::span<const std::vector<JobId>> on_nodes() const { return on_nodes_; }
  std::int64_t waiting() const { return waiting_; }  // submitted, not running, not final

  // Nodes that are lost, by the events so far.
  bool is_up(NodeId node) const { return index(node) >= lost_.size() || !lost_[index(node)]; }

  void set_shape(JobId id, ShapeId shape) { jobs_[index(id)]->shape = shape; }
  // Of a job that has come to its end.
  void forget(JobId id);

 private:
  Job& add();
  void hold(Job& job, const Event& event);
  void let_go(Job& job, const Event& event);
  void change_node(const Event& event);
  void leave_nodes(const Job& job, JobId id);

  std::vector<Job*> jobs_;  // by id
  using Block = std::array<Job, 256>;
  std::vector<std::unique_ptr<Block>> blocks_;  // where they are kept
  std::size_t kept_ = 0;
  std::vector<Job*> unused_;      // of those kept
  std::array<Job, 7> forgotten_;  // by state: stands for all that are forgotten in it
  std::vector<JobId> running_;
  std::vector<std::vector<JobId>> on_nodes_;
  std::vector<std::int32_t> running_at_;  // by job: its place in running_
  std::vector<bool> lost_;                // by node; may be shorter
  std::int64_t waiting_ = 0;
};

}  // namespace orrery
