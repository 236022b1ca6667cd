#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "policy/elastic.h"
#include "policy/elastic_clock.h"
#include "policy/elastic_grants.h"
#include "policy/slot_planner.h"
#include "predict/speed_curve.h"

namespace orrery {
namespace {

constexpr int kWidestPublished = 64;

// Everybody in the order of their deadlines takes as many GPUs as are of use, or what there is, for
// as long as it takes. With admission a job comes in if everybody is then in time.
class Edf final : public Policy {
 public:
  explicit Edf(const EdfOptions& options)
      : options_(options), grants_(options.anew, options.admits ? Fill::AsGiven : Fill::BySize) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    clock_.set(view.now);
    gpus_total_ = packer.current().gpus_total();
    forget_ended(view);
    for (Entry* entry : line_) refresh(view, *entry);
    if (!options_.admits) enter_all(view);
    const bool news = options_.admits && admit(view, plan);
    if (!news) {
      plan_all(line_);
      for (Entry* entry : line_) accept(*entry);
    }
    write(view, packer, plan);
  }

 private:
  using Fill = ElasticGrants::Fill;

  struct Entry {
    JobId job = kNoJob;
    Levels levels;
    int most = 0;
    std::int64_t deadline = kNoDeadline_s;
    double work_left = 0;
    int gpus = 0;
    std::int64_t end = 0;
    int new_gpus = 0;  // by the plan under trial
    std::int64_t new_end = 0;
    bool started = false;
    bool told = false;  // its end is new
    bool is_new = true;
  };
  using Line = std::vector<Entry*>;

  std::int64_t slot_s() const {
    return std::max<std::int64_t>(
        1, std::chrono::duration_cast<std::chrono::seconds>(options_.slot).count());
  }

  void forget_ended(const View& view) {
    std::erase_if(line_, [&](const Entry* e) { return is_final(view.job(e->job).state); });
    for (const JobId job : view.ended) entries_[index(job)].reset();
  }

  void refresh(const View& view, Entry& entry) const {
    const JobSpec& spec = view.spec(entry.job);
    entry.work_left = view.work_left(entry.job);
    entry.deadline = spec.deadline ? clock_.second(*spec.deadline) : kNoDeadline_s;
  }

  Entry* enter(const View& view, JobId job) {
    const JobSpec& spec = view.spec(job);
    int most = most_gpus(*view.workload, spec, {});
    if (options_.widest && spec.curve != kNoCurve) {
      most = std::min({kWidestPublished, view.workload->curves[index(spec.curve)].widest,
                       spec.batch_size > 0 ? spec.batch_size : kWidestPublished});
    }
    if (entries_.size() <= index(job)) entries_.resize(index(job) + 1);
    auto& entry = entries_[index(job)];
    entry = std::make_unique<Entry>(
        Entry{.job = job, .levels = Levels(*view.workload, spec, std::min(most, gpus_total_))});
    entry->most = entry->levels.most();
    refresh(view, *entry);
    return entry.get();
  }

  void enter_all(const View& view) {
    for (const JobId job : view.arrived) {
      Entry* entry = enter(view, job);
      const auto place = std::ranges::upper_bound(line_, entry->deadline, {}, &Entry::deadline);
      line_.insert(place, entry);
    }
  }

  // One by one. Answers whether anybody was let in.
  bool admit(const View& view, Plan& plan) {
    bool any = false;
    for (const JobId job : view.arrived) {
      Entry* entry = enter(view, job);
      trial_.assign(line_.begin(), line_.end());
      trial_.push_back(entry);
      if (!plan_all(trial_) && (options_.late_blocks || !harmless(*entry))) {
        const bool past = entry->deadline <= clock_.now_s();
        plan.reject(job, past ? Reason{.code = Reason::Code::DeadlinePast}
                              : Reason{.code = Reason::Code::Promised,
                                       .wanted = entry->most,
                                       .available = free_.front().gpus,
                                       .from = view.now,
                                       .until = clock_.instant(entry->deadline),
                                       .earliest = clock_.instant(entry->new_end)});
        entries_[index(job)].reset();
        continue;
      }
      line_.push_back(entry);
      for (Entry* other : line_) accept(*other, true);
      if (entry->deadline != kNoDeadline_s) plan.admit(job, clock_.instant(entry->end));
      any = true;
    }
    return any;
  }

  // Whether those who would be late with the newcomer are late without it. One who has no deadline
  // comes last and harms nobody.
  bool harmless(const Entry& newcomer) {
    if (newcomer.deadline == kNoDeadline_s) return true;
    if (newcomer.new_end > newcomer.deadline) return false;
    late_.clear();
    for (const Entry* entry : line_) {
      if (entry->new_end > entry->deadline) late_.push_back(entry->job);
    }
    without_.assign(line_.begin(), line_.end());
    plan_all(without_);
    const auto late_anyway = [&](JobId job) {
      const Entry& entry = *entries_[index(job)];
      return entry.new_end > entry.deadline;
    };
    const bool all = std::ranges::all_of(late_, late_anyway);
    plan_all(trial_);
    return all;
  }

  // The end of one that waits is told when somebody is let in, as released.
  static void accept(Entry& entry, bool tells_all = false) {
    entry.gpus = entry.new_gpus;
    entry.started = entry.started || entry.gpus > 0;
    if (!tells_all && entry.gpus == 0) return;
    entry.end = entry.new_end;
    entry.told = true;
  }

  // Answers whether everybody is in time.
  bool plan_all(Line& line) {
    if (!std::ranges::is_sorted(line, {}, &Entry::deadline)) {
      std::ranges::stable_sort(line, {}, &Entry::deadline);
    }
    free_.assign(1, {clock_.now_s(), gpus_total_});
    bool in_time = true;
    for (Entry* entry : line) {
      // Where nobody asks when the others will be done, it is enough to know that they wait.
      if (!options_.admits && free_.front().gpus == 0) {
        entry->new_gpus = 0;
        continue;
      }
      plan_one(*entry);
      in_time = in_time && entry->new_end <= entry->deadline;
    }
    return in_time;
  }

  void plan_one(Entry& entry) {
    double left = entry.work_left;
    std::size_t at = 0;
    int available = free_.front().gpus;
    for (std::size_t i = 1; i < free_.size(); ++i) {
      const int gpus = available >= entry.most ? entry.most : entry.levels.fitting(available);
      if (at == 0) entry.new_gpus = gpus;
      if (gpus > 0) {
        const double speed = entry.levels.speed_on(gpus);
        const std::int64_t end = done(free_[at].at, left, speed);
        if (free_[i].at >= end) {
          conclude(entry, at, gpus, end);
          return;
        }
        left -= static_cast<double>(free_[i].at - free_[at].at) * speed;
        free_[at].gpus -= gpus;
      }
      available = free_[i].gpus;
      at = i;
    }
    if (at == 0) entry.new_gpus = entry.most;
    const std::int64_t end = done(free_[at].at, left, entry.levels.speed_on(entry.most));
    entry.new_end = end;
    free_[at].gpus = gpus_total_ - entry.most;
    set_free(aligned(end), gpus_total_);
    merge(free_);
  }

  static std::int64_t done(std::int64_t at, double left, double speed) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(at) + left / speed));
  }

  // It ends before the next step. What it held is free again from the end of its slot on, even
  // where a step of others begins just there, as released.
  void conclude(Entry& entry, std::size_t at, int gpus, std::int64_t end) {
    entry.new_end = end;
    const int before = free_[at].gpus;
    const std::size_t next = step_from(free_, end);
    const bool known = next < free_.size() && free_[next].at == end;
    free_[at].gpus -= gpus;
    if (!known) set_free(aligned(end), before);
    merge(free_);
  }

  void set_free(std::int64_t at, int gpus) {
    const std::size_t i = step_from(free_, at);
    if (i < free_.size() && free_[i].at == at) {
      free_[i].gpus = gpus;
    } else {
      free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(i), {at, gpus});
    }
  }

  std::int64_t aligned(std::int64_t at) const {
    const std::int64_t since = at - clock_.now_s();
    return clock_.now_s() + (since + slot_s() - 1) / slot_s() * slot_s();
  }

  void write(const View& view, Packer& packer, Plan& plan) {
    seats_.clear();
    for (Entry* entry : line_) {
      const bool is_new = std::exchange(entry->is_new, false);
      const bool runs = view.job(entry->job).state == JobState::Running;
      if (entry->gpus > 0 || runs || is_new) {
        seats_.push_back({.job = entry->job, .gpus = entry->gpus, .is_new = is_new});
      }
      if (std::exchange(entry->told, false) && entry->started) {
        plan.expect({.job = entry->job, .done = clock_.instant(entry->end)});
      }
    }
    grants_.write(view, packer, seats_, plan);
  }

  const EdfOptions options_;
  ElasticClock clock_;
  ElasticGrants grants_;
  int gpus_total_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;  // by job
  Line line_;
  Line trial_;
  Line without_;
  std::vector<JobId> late_;
  GpuSteps free_;
  std::vector<ElasticGrants::Seat> seats_;
};

}  // namespace

std::unique_ptr<Policy> make_edf(const EdfOptions& options) {
  return std::make_unique<Edf>(options);
}

}  // namespace orrery
