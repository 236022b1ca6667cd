#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "scheduling/policy/order/order.h"

namespace orrery {

// Ranks jobs by the level they have reached: how much service (GPU time, from the first iteration
// on) they were given.
//
// Jobs start in level 0 and sink to the next when their service reaches the level's limit. Levels
// go first by their key, 0, 1, 2 and so on unless set otherwise. Inside a level, those who run come
// before those who wait; a job that is stopped goes to the head of those who wait, one that arrives
// or sinks to the tail.
class LevelOrder : public Order {
 public:
  struct Options {
    std::vector<Duration> limits;  // rising; the last level has no end
    // A job that has waited this many times as long as it ran goes back to level 0; 0: never.
    double promote = 0;
    // Time a job runs is looked at in whole ticks when its next sinking is timed; 0: exactly.
    Duration tick{};
    // As ElasticFlow's simulator has it: who holds most GPUs sinks first, and when that will be is
    // guessed by taking seconds off a limit in GPU seconds.
    bool guesses = false;
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
  const std::vector<Duration>& limits() const { return options_.limits; }
  bool knows(JobId job) const { return index(job) < jobs_.size() && jobs_[index(job)].known; }
  void set_keys(std::vector<double> keys) { keys_ = std::move(keys); }  // one for each level

 private:
  struct Standing {
    int level = 0;
    bool runs = false;
    bool known = false;
    std::uint32_t turn = 0;  // what is watched for another turn is stale
    std::int64_t ticket = 0;
    Duration forgiven{};  // service from before the last promotion
    Duration waited{};    // since the last promotion, once it has run
    Time stopped{};
  };
  struct Watched {
    Time at{};
    JobId job = kNoJob;
    std::uint32_t turn = 0;
    bool operator>(const Watched& other) const {
      return at != other.at ? at > other.at : job > other.job;
    }
  };

  // One who runs and can sink, with what is the same as long as it does.
  struct Sinking {
    JobId job = kNoJob;
    int gpus = 0;
    double limit_s = 0;   // of its level, in GPU time
    double needed_s = 0;  // for each GPU, in whole ticks
  };

  bool ticks() const { return options_.tick > Duration::zero(); }
  bool has_limit(JobId job) const;
  Duration limit(JobId job) const;
  // For each of the job's GPUs:
  Duration limit_for_each(const View& view, JobId job) const;
  Duration needed_for_each(const View& view, JobId job) const;  // the same in whole ticks
  Duration service(const View& view, JobId job) const;
  bool sinks(const View& view, JobId job) const;
  Time sinks_at(const View& view, JobId job) const;
  Time next_sinking(const View& view) const;
  void watch(const View& view, JobId job);
  const FloatingTime* floating_time(const View& view) const;

  const Options options_;
  std::vector<double> keys_;
  std::vector<Standing> jobs_;
  std::vector<Sinking> running_;  // only kept where ticks() asks for them
  std::priority_queue<Watched, std::vector<Watched>, std::greater<>> watched_;
  std::int64_t first_waiting_ = 0;
  std::int64_t last_waiting_ = 0;
  std::int64_t last_running_ = 0;
};

}  // namespace orrery
