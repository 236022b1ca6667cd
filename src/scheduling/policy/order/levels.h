#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "base/sparse_table.h"
#include "scheduling/policy/order/order.h"

namespace orrery {

// Ranks jobs by the level they have reached: how much service (GPU time, from the first iteration
// on) they were given.
//
// Jobs start in level 0 and sink to the next when their service reaches the level's limit. Levels
// go first by their key, 0, 1, 2 and so on unless set otherwise. Inside a level, running jobs come
// before waiting ones; a job that is stopped goes to the head of the waiting ones, one that arrives
// or sinks to the tail.
class LevelOrder : public Order {
 public:
  struct Options {
    std::vector<Duration> limits;  // rising; the last level has no end
    // A job that has waited this many times as long as it ran goes back to level 0; 0: never.
    double promote = 0;
  };
  explicit LevelOrder(Options options);

  Rank rank(const View& view, JobId job) const override;
  void arrived(const View& view, JobId job) override;
  void started(const View& view, JobId job) override;
  void stopped(const View& view, JobId job) override;
  void refresh(const View& view, std::vector<JobId>& changed) override;
  Time next_change(const View& view) override;
  bool is_settled() const override { return true; }

 protected:
  const Options& options() const { return options_; }
  bool knows(JobId job) const { return jobs_.has(job); }
  void set_keys(std::vector<double> keys) { keys_ = std::move(keys); }  // one for each level

  // The steps of refresh().
  void leave(const View& view);
  void collect_due(const View& view, std::vector<JobId>& changed);
  void change_levels(const View& view, std::span<const JobId> changed);

  // What a variant may count otherwise.
  virtual Duration served(const View& view, JobId job) const;  // in all
  virtual void watch_sinking(const View& view, JobId job);     // it runs, and its level has a limit

  bool runs(JobId job) const { return jobs_[job].runs; }
  bool has_limit(JobId job) const;
  Duration limit(JobId job) const;
  // For each of the job's GPUs:
  Duration limit_for_each(const View& view, JobId job) const;
  Duration service(const View& view, JobId job) const;  // since the last promotion
  bool sinks(const View& view, JobId job) const;

 private:
  struct Standing {
    int level = 0;
    bool runs = false;
    std::uint64_t change = 0;  // its last; what is watched for an earlier one is stale
    std::int64_t ticket = 0;
    Duration forgiven{};  // service from before the last promotion
    Duration waited{};    // since the last promotion, once it has run
    Time stopped{};
  };
  struct Watched {
    Time at{};
    JobId job = kNoJob;
    std::uint64_t change = 0;
    bool operator>(const Watched& other) const {
      return at != other.at ? at > other.at : job > other.job;
    }
  };

  Time sinks_at(const View& view, JobId job) const;
  void watch(const View& view, JobId job);

  const Options options_;
  std::vector<double> keys_;
  SparseTable<JobId, Standing> jobs_;  // those in sight
  std::uint64_t changes_ = 0;          // of all jobs
  std::priority_queue<Watched, std::vector<Watched>, std::greater<>> watched_;
  std::int64_t first_waiting_ = 0;
  std::int64_t last_waiting_ = 0;
  std::int64_t last_running_ = 0;
};

}  // namespace orrery
