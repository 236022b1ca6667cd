#include <algorithm>
#include <queue>

#include "base/invariant.h"
#include "policy/orders.h"

namespace orrery {
namespace {

class Las final : public Order {
 public:
  explicit Las(const LasOptions& options) : options_(options) {
    INVARIANT(std::ranges::is_sorted(options.limits), "levels end one after another");
  }

  Rank rank(const View& /*view*/, JobId job) const override {
    const Standing& standing = jobs_[index(job)];
    return {static_cast<double>(standing.level * 2 + (standing.runs ? 0 : 1)), standing.ticket};
  }

  void arrived(const View& view, JobId job) override {
    if (jobs_.size() < view.jobs.size()) jobs_.resize(view.jobs.size());
    jobs_[index(job)] = {.ticket = ++last_waiting_};
  }

  void started(const View& view, JobId job) override {
    Standing& standing = jobs_[index(job)];
    standing.runs = true;
    standing.ticket = ++last_running_;
    ++standing.turn;
    if (ticks()) running_.push_back(job);
    if (options_.promote > 0) standing.waited += waited_since(view, job);
    watch(view, job);
  }

  void stopped(const View& view, JobId job) override {
    Standing& standing = jobs_[index(job)];
    if (ticks()) std::erase(running_, job);
    // One that has just sunk is at the tail of its new level already.
    if (standing.runs) standing.ticket = --first_waiting_;
    standing.runs = false;
    ++standing.turn;
    standing.stopped = view.now;
    watch(view, job);
  }

  void refresh(const View& view, std::vector<JobId>& changed) override {
    if (ticks()) {
      std::erase_if(running_, [&](JobId job) {
        if (sinks(view, job)) changed.push_back(job);
        return is_final(view.job(job).state) || sinks(view, job);
      });
    } else {
      while (!watched_.empty() && watched_.top().at <= view.now) {
        const Watched next = watched_.top();
        watched_.pop();
        const bool stale = jobs_[index(next.job)].turn != next.turn;
        if (!stale && !is_final(view.job(next.job).state)) changed.push_back(next.job);
      }
    }
    std::ranges::sort(changed);
    for (const JobId job : changed) {
      Standing& standing = jobs_[index(job)];
      if (standing.runs) {
        ++standing.level;
        standing.runs = false;
      } else {
        standing.level = 0;
        standing.forgiven = view.job(job).attained;
        standing.waited = {};
        standing.stopped = view.now;
      }
      standing.ticket = ++last_waiting_;
      ++standing.turn;
    }
  }

  Time next_change(const View& view) override {
    if (!ticks()) return watched_.empty() ? kNever : watched_.top().at;
    Time next = kNever;
    for (const JobId job : running_) next = std::min(next, sinks_at(view, job));
    return next;
  }

 private:
  struct Standing {
    int level = 0;
    bool runs = false;
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

  bool ticks() const { return options_.tick > Duration::zero(); }
  bool has_limit(JobId job) const {
    return static_cast<std::size_t>(jobs_[index(job)].level) < options_.limits.size();
  }
  Duration limit(JobId job) const {
    return options_.limits[static_cast<std::size_t>(jobs_[index(job)].level)];
  }
  Duration service(const View& view, JobId job) const {
    return view.job(job).attained_at(view.now) - jobs_[index(job)].forgiven;
  }
  bool sinks(const View& view, JobId job) const {
    return !is_final(view.job(job).state) && has_limit(job) &&
           service(view, job) * view.spec(job).gpus >= limit(job);
  }
  Time sinks_at(const View& view, JobId job) const {
    if (!has_limit(job)) return kNever;
    const int gpus = view.spec(job).gpus;
    Duration needed((limit(job).count() + gpus - 1) / gpus);
    if (ticks()) {
      needed = (needed + options_.tick - Duration(1)) / options_.tick * options_.tick;
    }
    return view.now + (needed - service(view, job));
  }

  Duration waited_since(const View& view, JobId job) const {
    return service(view, job) > Duration::zero() ? view.now - jobs_[index(job)].stopped
                                                 : Duration::zero();
  }

  // Notes when the level of a job changes by itself: it sinks while it runs, and is promoted while
  // it waits.
  void watch(const View& view, JobId job) {
    const Standing& standing = jobs_[index(job)];
    if (standing.runs) {
      if (ticks() || !has_limit(job)) return;
      watched_.push({std::max(view.now, sinks_at(view, job)), job, standing.turn});
    } else if (options_.promote > 0 && standing.level > 0) {
      const Duration patience = from_seconds(seconds(service(view, job)) * options_.promote);
      watched_.push(
          {std::max(view.now, view.now + patience - standing.waited), job, standing.turn});
    }
  }

  const LasOptions options_;
  std::vector<Standing> jobs_;
  std::vector<JobId> running_;  // only kept where ticks() asks for all of them at each event
  std::priority_queue<Watched, std::vector<Watched>, std::greater<>> watched_;
  std::int64_t first_waiting_ = 0;
  std::int64_t last_waiting_ = 0;
  std::int64_t last_running_ = 0;
};

}  // namespace

std::unique_ptr<Order> make_las(const LasOptions& options) {
  return std::make_unique<Las>(options);
}

}  // namespace orrery
