#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "policy/elastic.h"
#include "policy/elastic_clock.h"
#include "policy/elastic_grants.h"
#include "policy/slot_planner.h"
#include "predict/speed_curve.h"

namespace orrery {
namespace {

// Times at which something was to change, and how many jobs were to end then.
class ChangeList {
 public:
  void change(std::int64_t at) { marks_[at].change = true; }
  void end(std::int64_t at) { ++marks_[at].ends; }
  // A job is not to end then any more; a time at which none is left is struck out.
  void leave(std::int64_t at) {
    const auto mark = marks_.find(at);
    if (mark != marks_.end() && --mark->second.ends <= 0) marks_.erase(mark);
  }
  void forget(std::int64_t until) { marks_.erase(marks_.begin(), marks_.upper_bound(until)); }
  std::int64_t next() const {
    for (const auto& [at, mark] : marks_) {
      if (mark.change) return at;
    }
    return kNoDeadline_s;
  }

 private:
  struct Mark {
    int ends = 0;
    bool change = false;
  };
  std::map<std::int64_t, Mark> marks_;
};

// Lines change little from one sorting to the next.
template <class T, class Before>
void sort_stably(std::vector<T>& line, Before before) {
  constexpr std::size_t kFew = 64;
  if (line.size() > kFew) {
    std::stable_sort(line.begin(), line.end(), before);
    return;
  }
  for (std::size_t i = 1; i < line.size(); ++i) {
    const T one = line[i];
    std::size_t j = i;
    for (; j > 0 && before(one, line[j - 1]); --j) line[j] = line[j - 1];
    line[j] = one;
  }
}

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Deadline jobs are admitted if everybody's minimum satisfactory share fits in time; what is then
// free goes, step by step, to where it changes total GPU time most.
//
// After ElasticFlow (ASPLOS '23).
class ElasticFlow final : public Policy {
 public:
  explicit ElasticFlow(const ElasticFlowOptions& options)
      : options_(options), grants_(options.anew) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    clock_.set(view.now);
    gpus_total_ = packer.current().gpus_total();
    if (!planner_) planner_.emplace(clock_.now_s(), slot_s(), gpus_total_);
    planner_->set_now(clock_.now_s());
    list_ends_put_off(view);
    forget_ended(view);
    for (Entry* entry : line_) refresh(view, *entry);
    admit(view, plan);
    plan_all(line_);
    if (line_.empty()) return;
    list_ends();
    start_planned();
    scale_up();
    write(view, packer, plan);
  }

 private:
  struct Entry {
    JobId job = kNoJob;
    Levels levels;
    std::int64_t deadline = kNoDeadline_s;
    double work_left = 0;
    int gpus = 0;
    GpuSteps planned = {};
    std::int64_t end = 0;
    std::int64_t gpu_seconds = 0;  // of the plan
    std::int64_t assured = 0;      // done by the plan, without what is given on top
    bool in_time = true;
    bool is_new = true;
    std::int64_t listed = kNoDeadline_s;  // its end in the list of changes, if it is there
    // With one step more, while free GPUs are given away:
    int next = 0;
    double merit = 0;
  };
  using Line = std::vector<Entry*>;

  std::int64_t slot_s() const {
    return std::max<std::int64_t>(
        1, std::chrono::duration_cast<std::chrono::seconds>(options_.slot).count());
  }

  void forget_ended(const View& view) {
    for (Entry* entry : line_) {
      if (is_final(view.job(entry->job).state)) list_end(*entry, kNoDeadline_s);
    }
    const auto ended = [&](const Entry* entry) { return is_final(view.job(entry->job).state); };
    std::erase_if(line_, ended);
    std::erase_if(pending_, ended);
    std::erase_if(started_, ended);
    for (const JobId job : view.ended) entries_[index(job)].reset();
  }

  void refresh(const View& view, Entry& entry) const {
    const JobSpec& spec = view.spec(entry.job);
    entry.work_left = view.work_left(entry.job);
    if (spec.deadline) entry.deadline = clock_.second(*spec.deadline);
  }

  Entry* enter(const View& view, JobId job) {
    const JobSpec& spec = view.spec(job);
    if (entries_.size() <= index(job)) entries_.resize(index(job) + 1);
    const int most = std::min(most_gpus(*view.workload, spec, options_.limits), gpus_total_);
    entries_[index(job)] =
        std::make_unique<Entry>(Entry{.job = job, .levels = Levels(*view.workload, spec, most)});
    refresh(view, *entries_[index(job)]);
    return entries_[index(job)].get();
  }

  static SlotPlanner::Request request(const Entry& entry, int now_gpus) {
    return {.levels = &entry.levels,
            .work_left = entry.work_left,
            .deadline = entry.deadline,
            .now_gpus = now_gpus};
  }

  // Everybody in turn, by deadline. Answers whether all will be in time.
  bool plan_all(Line& line) {
    sort_stably(line, [](const Entry* a, const Entry* b) { return a->deadline < b->deadline; });
    free_.assign(1, {clock_.now_s(), gpus_total_});
    bool all_in_time = true;
    for (Entry* entry : line) {
      planner_->plan(request(*entry, 0), free_);
      planner_->write(entry->planned, next_free_);
      free_.swap(next_free_);
      entry->end = planner_->end();
      entry->gpu_seconds = planner_->gpu_seconds();
      entry->assured = planner_->done();
      entry->in_time = planner_->done() <= entry->deadline;
      entry->gpus = entry->planned.front().gpus;
      all_in_time = all_in_time && entry->in_time;
    }
    return all_in_time;
  }

  void admit(const View& view, Plan& plan) {
    fresh_.clear();
    for (const JobId job : view.arrived) {
      fresh_.push_back(enter(view, job));
      if (options_.admission == ElasticFlowOptions::Admission::OneByOne) admit_fresh(plan);
    }
    admit_fresh(plan);
  }

  // All or none of the fresh ones; whoever has no deadline comes in in any case.
  void admit_fresh(Plan& plan) {
    if (fresh_.empty()) return;
    const bool tests = options_.admission != ElasticFlowOptions::Admission::None;
    bool fits = true;
    if (tests) {
      const bool late_before =
          options_.admission == ElasticFlowOptions::Admission::OneByOne && !plan_all(line_);
      const auto late = static_cast<std::size_t>(
          std::ranges::count_if(line_, [](const Entry* entry) { return !entry->in_time; }));
      trial_.assign(line_.begin(), line_.end());
      trial_.insert(trial_.end(), fresh_.begin(), fresh_.end());
      fits = plan_all(trial_);
      // One who is late already is no reason to refuse others.
      if (!fits && late_before) {
        fits = late == static_cast<std::size_t>(std::ranges::count_if(
                           trial_, [](const Entry* entry) { return !entry->in_time; }));
      }
    }
    for (Entry* entry : fresh_) {
      const bool best_effort = entry->deadline == kNoDeadline_s;
      if (fits || best_effort) {
        line_.push_back(entry);
        pending_.push_back(entry);
        if (tests && !best_effort) plan.admit(entry->job, clock_.instant(entry->assured));
      } else {
        plan.reject(entry->job, refusal(*entry));
        entries_[index(entry->job)].reset();
      }
    }
    fresh_.clear();
  }

  Reason refusal(const Entry& entry) const {
    const std::int64_t now_s = clock_.now_s();
    const double alone_s = entry.work_left / entry.levels.speed_on(entry.levels.most());
    const auto alone = now_s + static_cast<std::int64_t>(std::ceil(alone_s));
    if (entry.deadline <= now_s) return {.code = Reason::Code::DeadlinePast};
    if (alone > entry.deadline) {
      return {.code = Reason::Code::TooLate, .earliest = clock_.instant(alone)};
    }
    // What the trial left free says where it pinches: the first step with too little.
    Reason reason{.code = Reason::Code::Promised,
                  .wanted = entry.levels.most(),
                  .available = gpus_total_,
                  .from = clock_.instant(now_s),
                  .until = clock_.instant(entry.deadline),
                  .earliest = clock_.instant(std::max(entry.assured, alone))};
    for (std::size_t i = 0; i < free_.size() && free_[i].at < entry.deadline; ++i) {
      if (free_[i].gpus >= reason.available) continue;
      reason.available = free_[i].gpus;
      reason.from = clock_.instant(free_[i].at);
      const std::int64_t until = i + 1 < free_.size() ? free_[i + 1].at : entry.deadline;
      reason.until = clock_.instant(std::min(until, entry.deadline));
    }
    return reason;
  }

  void start_planned() {
    const auto starts = [](const Entry* entry) { return entry->gpus > 0; };
    std::ranges::copy_if(pending_, std::back_inserter(started_), starts);
    note_changes(pending_);
    std::erase_if(pending_, starts);
  }

  // Free GPUs, step by step. Those who have none go first.
  void scale_up() {
    for (Entry* entry : line_) entry->next = entry->levels.above(entry->gpus);
    if (free_.front().gpus == 0) return;
    for (Entry* entry : line_) weigh(*entry);
    sort_stably(line_, [](const Entry* a, const Entry* b) { return a->merit > b->merit; });
    while (free_.front().gpus > 0) {
      const auto first = std::ranges::find_if(line_, [&](const Entry* entry) {
        return entry->next > entry->gpus && entry->next - entry->gpus <= free_.front().gpus;
      });
      const bool found = first != line_.end();
      if (found) give(**first);
      for (Entry* entry : line_) {
        if (entry->next > entry->gpus) weigh(*entry);
      }
      sort_stably(line_, [](const Entry* a, const Entry* b) { return a->merit > b->merit; });
      if (!found) break;
    }
  }

  // What a step more changes in the job's GPU time.
  void weigh(Entry& entry) {
    if (entry.next == entry.gpus || entry.next - entry.gpus > free_.front().gpus) {
      entry.merit = -kInfinite;
      return;
    }
    entry.merit = kInfinite;
    if (entry.gpus == 0) return;
    const SlotPlanner::Held held{.gpus = &entry.planned, .end = entry.end};
    const std::int64_t more =
        planner_->weigh(request(entry, entry.next), free_, held) - entry.gpu_seconds;
    const double rate = static_cast<double>(more) / (entry.next - entry.gpus);
    entry.merit = options_.saves_first ? -rate : rate;
  }

  void give(Entry& entry) {
    const SlotPlanner::Held held{.gpus = &entry.planned, .end = entry.end};
    planner_->plan(request(entry, entry.next), free_, &held);
    planner_->write(next_planned_, next_free_);
    free_.swap(next_free_);
    entry.planned.swap(next_planned_);
    entry.end = planner_->end();
    entry.gpu_seconds = planner_->gpu_seconds();
    entry.assured = planner_->done();
    if (keeps_changes()) list_end(entry, entry.end);
    if (entry.gpus == 0) {
      if (std::erase(pending_, &entry) > 0) started_.push_back(&entry);
    }
    entry.gpus = entry.next;
    entry.next = entry.levels.above(entry.gpus);
  }

  // Without admission the released code keeps every change it ever planned for, until a round is
  // held then or until the last job that was to end then is to end at another time.
  bool keeps_changes() const { return options_.admission == ElasticFlowOptions::Admission::None; }

  // Those who run end later than planned, by what the last round cost.
  void list_ends_put_off(const View& view) {
    if (!keeps_changes()) return;
    for (Entry* entry : started_) {
      if (entry->listed != kNoDeadline_s) continue;
      const Time end = view.progress->expected_end(entry->job);
      if (end == kNever) continue;
      entry->listed = clock_.second(end);
      changes_.end(entry->listed);
    }
  }

  void list_ends() {
    if (!keeps_changes()) return;
    for (Entry* entry : line_) list_end(*entry, entry->end);
  }

  void list_end(Entry& entry, std::int64_t end) {
    const std::int64_t before = std::exchange(entry.listed, end);
    if (before == end) return;
    if (before != kNoDeadline_s) changes_.leave(before);
    if (end != kNoDeadline_s) changes_.end(end);
  }

  void note_changes(const Line& line) {
    if (!keeps_changes()) return;
    for (const Entry* entry : line) {
      const auto begins =
          std::ranges::find_if(entry->planned, [](const GpuStep& step) { return step.gpus > 0; });
      if (begins == entry->planned.end() || begins->at <= clock_.now_s()) continue;
      changes_.change(begins->at);
    }
  }

  void write(const View& view, Packer& packer, Plan& plan) {
    sort_stably(line_, [](const Entry* a, const Entry* b) { return a->gpus > b->gpus; });
    const bool all_at_once = options_.admission != ElasticFlowOptions::Admission::None;
    seats_.clear();
    for (Entry* entry : all_at_once ? line_ : started_) seat(*entry);
    if (!all_at_once) {
      for (Entry* entry : pending_) seat(*entry);
    }
    grants_.write(view, packer, seats_, plan);
    for (const Entry* entry : line_) {
      plan.expect({.job = entry->job,
                   .done = clock_.instant(entry->end),
                   .assured = clock_.instant(entry->assured)});
    }
    wake(plan);
  }

  void seat(Entry& entry) {
    const auto begins =
        std::ranges::find_if(entry.planned, [](const GpuStep& step) { return step.gpus > 0; });
    seats_.push_back({.job = entry.job,
                      .gpus = entry.gpus,
                      .begins = begins == entry.planned.end() ? kNever : clock_.instant(begins->at),
                      .is_new = std::exchange(entry.is_new, false)});
  }

  static std::int64_t next_change(const Entry& entry, std::int64_t now_s) {
    for (const GpuStep& step : entry.planned) {
      if (step.at > now_s) return step.at;
    }
    return kNoDeadline_s;
  }

  // At the next change of somebody's plan, unless somebody's end comes first.
  void wake(Plan& plan) {
    const std::int64_t now_s = clock_.now_s();
    if (keeps_changes()) {
      wake_at_all(plan);
      return;
    }
    std::int64_t change = kNoDeadline_s;
    std::int64_t end = kNoDeadline_s;
    for (const Entry* entry : line_) {
      change = std::min(change, next_change(*entry, now_s));
      end = std::min(end, entry->end);
    }
    if (change < end) plan.wake(clock_.instant(change));
  }

  // The ends of those who run are put off by what a round costs, which is not for a plan to know.
  void wake_at_all(Plan& plan) {
    for (const Entry* entry : started_) {
      const std::int64_t change = next_change(*entry, clock_.now_s());
      if (change != kNoDeadline_s) changes_.change(change);
    }
    for (Entry* entry : started_) {
      if (entry->gpus > 0) list_end(*entry, kNoDeadline_s);
    }
    changes_.forget(clock_.now_s());
    const std::int64_t next = changes_.next();
    if (next != kNoDeadline_s) plan.wake(clock_.instant(next));
  }

  const ElasticFlowOptions options_;
  ElasticClock clock_;
  ElasticGrants grants_;
  std::optional<SlotPlanner> planner_;
  int gpus_total_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;  // by job
  Line line_;                                    // everybody, in the order left by the last round
  Line pending_;
  Line started_;
  Line fresh_;
  Line trial_;
  GpuSteps free_;
  GpuSteps next_free_;
  GpuSteps next_planned_;
  std::vector<ElasticGrants::Seat> seats_;
  ChangeList changes_;
};

}  // namespace

int most_gpus(const Workload& workload, const JobSpec& job, const ElasticLimits& limits) {
  if (job.curve == kNoCurve) return job.gpus;
  const SpeedCurve& curve = workload.curves[index(job.curve)];
  int most = knee(curve);
  if (limits.first_fall) {
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
      if (curve.points[i].iterations_per_s >= curve.points[i - 1].iterations_per_s) continue;
      most = curve.points[i - 1].gpus;
      break;
    }
  }
  for (const ElasticLimits::Cap& cap : limits.caps) {
    if (cap.model == workload.name_of(job.model)) most = std::min(most, cap.gpus);
  }
  return most;
}

std::unique_ptr<Policy> make_elasticflow(const ElasticFlowOptions& options) {
  return std::make_unique<ElasticFlow>(options);
}

}  // namespace orrery
