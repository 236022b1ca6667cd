#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "scheduling/policy/adopt.h"
#include "scheduling/policy/change_list.h"
#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/policy/deadline/elastic_clock.h"
#include "scheduling/policy/deadline/elastic_grants.h"
#include "scheduling/policy/deadline/scale_up.h"

namespace orrery {
namespace {

// Deadline jobs are admitted if everybody's minimum satisfactory share fits in time; what is then
// free goes, step by step, to where it changes total GPU time most.
//
// After ElasticFlow (ASPLOS '23). Departure: a job with a soft deadline is planned after those with
// hard ones, is promised nothing and never refused.
class ElasticFlow final : public Policy {
 public:
  explicit ElasticFlow(const ElasticFlowOptions& options)
      : options_(options), grants_(options.anew), scale_up_(options.scale_up) {}

  bool adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) override {
    return adopt_elastic(view, job, grant);
  }

  void plan(const View& view, Packer& packer, Plan& plan) override {
    clock_.set(view.now);
    gpus_total_ = packer.current().gpus_total();
    if (!planner_) planner_.emplace(clock_.now_s(), slot_s(), gpus_total_);
    planner_->set_now(clock_.now_s());
    list_ends_put_off(view);
    forget_ended(view);
    for (Entry* entry : line_) refresh(view, *entry);
    planned_ = false;
    admit(view, plan);
    if (!planned_) plan_all(line_);
    if (line_.empty()) return;
    list_ends();
    start_planned();
    for (const ScaleUp::Gift& gift : scale_up_.run(*planner_, free_, line_)) note(gift);
    write(view, packer, plan);
  }

 private:
  using Entry = FlowJob;
  using Line = FlowLine;

  std::int64_t slot_s() const {
    return std::max<std::int64_t>(
        1, std::chrono::duration_cast<std::chrono::seconds>(options_.slot).count());
  }

  void forget_ended(const View& view) {
    for (Entry* entry : line_) {
      if (view.has_ended(entry->job)) list_end(*entry, kNoDeadline_s);
    }
    const auto ended = [&](const Entry* entry) { return view.has_ended(entry->job); };
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
    const bool soft = options_.admission != ElasticFlowOptions::Admission::None && spec.deadline &&
                      spec.deadline_kind == DeadlineKind::Soft;
    entries_[index(job)] = std::make_unique<Entry>(
        Entry{.job = job, .curve = measured_options(*view.workload, spec, most), .soft = soft});
    refresh(view, *entries_[index(job)]);
    return entries_[index(job)].get();
  }

  // Everybody in turn, by deadline. Answers whether all will be in time.
  bool plan_all(Line& line) {
    sort_stably(line, [](const Entry* a, const Entry* b) { return a->turn() < b->turn(); });
    free_.reset(clock_.now_s(), gpus_total_);
    bool all_in_time = true;
    for (Entry* entry : line) {
      planner_->plan(entry->request(), free_);
      planner_->write(entry->planned, next_free_);
      std::swap(free_, next_free_);
      entry->end = planner_->end();
      entry->gpu_seconds = planner_->gpu_seconds();
      entry->assured = planner_->done();
      entry->in_time = planner_->done() <= entry->deadline;
      entry->gpus = entry->planned.gpus(0);
      all_in_time = all_in_time && (entry->in_time || entry->soft);
    }
    return all_in_time;
  }

  void admit(const View& view, Plan& plan) {
    fresh_.clear();
    for (const JobId job : view.arrived) {
      if (!is_in(view.job(job))) continue;
      Entry* entry = enter(view, job);
      line_.push_back(entry);
      (view.job(job).state == JobState::Running ? started_ : pending_).push_back(entry);
    }
    for (const JobId job : view.arrived) {
      if (is_in(view.job(job))) continue;
      fresh_.push_back(enter(view, job));
      if (options_.admission == ElasticFlowOptions::Admission::OneByOne) admit_fresh(plan);
    }
    admit_fresh(plan);
  }

  // All or none of the fresh ones; a job without a hard deadline comes in in any case.
  void admit_fresh(Plan& plan) {
    if (fresh_.empty()) return;
    const bool tests = options_.admission != ElasticFlowOptions::Admission::None;
    const bool fits = !tests || fit();
    if (planned_) line_ = trial_;
    for (Entry* entry : fresh_) {
      const bool best_effort = entry->deadline == kNoDeadline_s || entry->soft;
      if (fits || best_effort) {
        if (!planned_) line_.push_back(entry);
        pending_.push_back(entry);
        if (tests && !best_effort) plan.admit(entry->job, clock_.instant(entry->assured));
      } else {
        plan.reject(entry->job, refusal(*entry));
        entries_[index(entry->job)].reset();
      }
    }
    fresh_.clear();
  }

  // Whether all are in time with the fresh ones. Where these come one by one, those who are late
  // without them are no reason to refuse.
  bool fit() {
    trial_.assign(line_.begin(), line_.end());
    trial_.insert(trial_.end(), fresh_.begin(), fresh_.end());
    if (plan_all(trial_)) return planned_ = true;
    planned_ = false;
    if (options_.admission != ElasticFlowOptions::Admission::OneByOne) return false;
    const auto late = [](const Entry* entry) { return !entry->in_time && !entry->soft; };
    if (std::ranges::any_of(fresh_, late)) return false;
    const auto with = std::ranges::count_if(trial_, late);
    plan_all(line_);
    const auto without = std::ranges::count_if(line_, late);
    plan_all(trial_);
    return planned_ = with == without;
  }

  Reason refusal(const Entry& entry) const {
    const std::int64_t now_s = clock_.now_s();
    const double alone_s = entry.work_left / entry.curve.speed_within(entry.curve.gpus_max());
    const auto alone = now_s + static_cast<std::int64_t>(std::ceil(alone_s));
    if (entry.deadline <= now_s) return {.code = Reason::Code::DeadlinePast};
    if (alone > entry.deadline) {
      return {.code = Reason::Code::TooLate, .earliest = clock_.instant(alone)};
    }
    // What the trial left free says where it pinches: the first step with too little.
    Reason reason{.code = Reason::Code::Promised,
                  .wanted = entry.curve.gpus_max(),
                  .available = gpus_total_,
                  .from = clock_.instant(now_s),
                  .until = clock_.instant(entry.deadline),
                  .earliest = clock_.instant(std::max(entry.assured, alone))};
    for (std::size_t i = 0; i < free_.size() && free_.from(i) < entry.deadline; ++i) {
      if (free_.gpus(i) >= reason.available) continue;
      reason.available = free_.gpus(i);
      reason.from = clock_.instant(free_.from(i));
      reason.until = clock_.instant(std::min(free_.until(i), entry.deadline));
    }
    return reason;
  }

  void start_planned() {
    const auto starts = [](const Entry* entry) { return entry->gpus > 0; };
    std::ranges::copy_if(pending_, std::back_inserter(started_), starts);
    note_changes(pending_);
    std::erase_if(pending_, starts);
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

  void note(const ScaleUp::Gift& gift) {
    if (keeps_changes()) list_end(*gift.job, gift.end);
    if (std::erase(pending_, gift.job) > 0) started_.push_back(gift.job);
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
      const std::int64_t begins = entry->planned.first_use();
      if (begins != kNoDeadline_s && begins > clock_.now_s()) changes_.change(begins);
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
    seats_.push_back({.job = entry.job,
                      .gpus = entry.gpus,
                      .begins = clock_.instant(entry.planned.first_use()),
                      .is_new = std::exchange(entry.is_new, false)});
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
      change = std::min(change, entry->planned.next_step(now_s));
      end = std::min(end, entry->end);
    }
    if (change < end) plan.wake(clock_.instant(change));
  }

  // The ends of those who run are put off by what a round costs, which is not for a plan to know.
  void wake_at_all(Plan& plan) {
    for (const Entry* entry : started_) {
      const std::int64_t change = entry->planned.next_step(clock_.now_s());
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
  ScaleUp scale_up_;
  std::optional<SlotPlanner> planner_;
  int gpus_total_ = 0;
  bool planned_ = false;                         // everybody in line, by the last trial
  std::vector<std::unique_ptr<Entry>> entries_;  // by job
  Line line_;                                    // everybody, in the order left by the last round
  Line pending_;
  Line started_;
  Line fresh_;
  Line trial_;
  SlotTimeline free_;
  SlotTimeline next_free_;
  std::vector<ElasticGrants::Seat> seats_;
  ChangeList changes_;
};

}  // namespace

std::unique_ptr<Policy> make_elasticflow(const ElasticFlowOptions& options) {
  return std::make_unique<ElasticFlow>(options);
}

}  // namespace orrery
