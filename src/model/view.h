#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "model/cluster.h"
#include "model/grant.h"
#include "model/job.h"
#include "model/time.h"

namespace orrery {

// A job as the events so far have left it.
struct Job {
  const JobSpec* spec = nullptr;
  JobState state = JobState::Pending;
  ShapeId shape{};
  Grant held;                    // no devices unless Running
  Time run_since{};              // since when it holds them, if Running
  Time ready{};                  // its first iteration on them begins here
  Duration attained{};           // time it held devices in earlier runs
  Duration worked{};             // of the time it held devices, what went into iterations, up to...
  Time worked_until{};           // ...then
  double work_left = 0;          // iterations, as of the last event about it
  std::optional<Time> promised;  // to be done then, by the policy that admitted it

  Duration attained_at(Time now) const {
    return state == JobState::Running ? attained + (now - run_since) : attained;
  }
  // The same without the times it took to start.
  Duration worked_at(Time now) const {
    const Time from = std::max(worked_until, ready);
    return state == JobState::Running && now > from ? worked + (now - from) : worked;
  }
};

// Jobs by id, each where its owner keeps it.
class JobList {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = Job;
    using pointer = const Job*;
    using reference = const Job&;

    Iterator() = default;
    explicit Iterator(const Job* const* at) : at_(at) {}
    const Job& operator*() const { return **at_; }
    const Job* operator->() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const Job* const* at_ = nullptr;
  };

  JobList() = default;
  explicit JobList(std::span<const Job* const> jobs) : jobs_(jobs) {}

  std::size_t size() const { return jobs_.size(); }
  bool empty() const { return jobs_.empty(); }
  const Job& operator[](std::size_t id) const { return *jobs_[id]; }
  Iterator begin() const { return Iterator(jobs_.data()); }
  Iterator end() const { return Iterator(jobs_.data() + jobs_.size()); }

 private:
  std::span<const Job* const> jobs_;
};

// How far running jobs have come: measured by agents, or computed by a simulation.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual double work_left(JobId job) const = 0;  // iterations; of a running job
};

// What a policy may know at one instant. Orders inside the spans mean nothing.
//
// A job comes into a policy's sight by `arrived` and leaves it by `ended`; in between, and only
// then, it is the policy's to decide about. It may arrive in any state but a final one, Running
// with what another policy gave it included, and one that left may arrive again, even in the same
// view: what has ended comes first.
struct View {
  Time now{};
  const Workload* workload = nullptr;
  const Cluster* cluster = nullptr;
  JobList jobs;                    // all that were ever submitted, by id
  std::span<const JobId> running;  // of those in sight
  std::span<const JobId> arrived;  // since the last plan
  std::span<const JobId> ended;    // since the last plan: final, or out of sight
  std::span<const NodeId> freed;   // where something was let go of since the last plan
  std::span<const std::vector<JobId>> on_nodes;  // by node: jobs that hold GPUs there
  const Progress* progress = nullptr;

  const Job& job(JobId id) const { return jobs[index(id)]; }
  const JobSpec& spec(JobId id) const { return *jobs[index(id)].spec; }
  bool has_ended(JobId id) const { return std::ranges::find(ended, id) != ended.end(); }
  double work_left(JobId id) const {
    const Job& job = jobs[index(id)];
    return job.state == JobState::Running ? progress->work_left(id) : job.work_left;
  }
};

}  // namespace orrery
