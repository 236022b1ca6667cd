#include <algorithm>
#include <memory>
#include <utility>

#include "scheduling/policy/adopt.h"
#include "scheduling/policy/deadline/edf_plan.h"
#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/policy/deadline/elastic_clock.h"
#include "scheduling/policy/deadline/elastic_grants.h"
#include "scheduling/policy/published/node_fill_grants.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {
namespace {

constexpr int kWidestPublished = 64;

// Everybody is planned as EdfPlan does. With admission a job comes in if everybody is then in time.
// One with a soft deadline is then promised nothing and never refused.
class Edf final : public Policy {
 public:
  explicit Edf(const EdfOptions& options)
      : options_(options),
        edf_(options.slot),
        grants_(options.anew
                    ? make_node_fill_grants(options.admits ? FillOrder::AsGiven : FillOrder::BySize)
                    : std::make_unique<ElasticGrants>()) {}

  bool adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) override {
    return adopt_elastic(view, job, grant);
  }

  void plan(const View& view, Packer& packer, Plan& plan) override {
    clock_.set(view.now);
    gpus_total_ = packer.current().gpus_total();
    edf_.set(clock_.now_s(), gpus_total_);
    forget_ended(view);
    for (Entry* entry : line_) refresh(view, *entry);
    if (!options_.admits) enter_all(view);
    const bool news = options_.admits && admit(view, plan);
    if (!news) {
      edf_.plan_all(line_, options_.admits ? EdfPlan::Asked::Ends : EdfPlan::Asked::WhoRuns);
      for (Entry* entry : line_) accept(*entry);
    }
    write(view, packer, plan);
  }

 private:
  using Entry = EdfEntry;

  void forget_ended(const View& view) {
    std::erase_if(line_, [&](const Entry* e) { return view.has_ended(e->job); });
    for (const JobId job : view.ended) entries_[index(job)].reset();
  }

  void refresh(const View& view, Entry& entry) const {
    const JobSpec& spec = view.spec(entry.job);
    entry.work_left = view.work_left(entry.job);
    entry.deadline = spec.deadline ? clock_.second(*spec.deadline) : kNoDeadline_s;
  }

  Entry* enter(const View& view, JobId job) {
    const JobSpec& spec = view.spec(job);
    int most = knee_gpus(*view.workload, spec);
    if (options_.widest && spec.curve != kNoCurve) {
      most = std::min({kWidestPublished, view.workload->curves[index(spec.curve)].widest,
                       spec.batch_size > 0 ? spec.batch_size : kWidestPublished});
    }
    if (entries_.size() <= index(job)) entries_.resize(index(job) + 1);
    auto& entry = entries_[index(job)];
    entry = std::make_unique<Entry>(
        Entry{.job = job, .levels = Levels(*view.workload, spec, std::min(most, gpus_total_))});
    entry->most = entry->levels.most();
    entry->soft = options_.admits && spec.deadline && spec.deadline_kind == DeadlineKind::Soft;
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
      if (is_in(view.job(job))) {
        line_.push_back(entry);
        continue;
      }
      trial_.assign(line_.begin(), line_.end());
      trial_.push_back(entry);
      if (!edf_.plan_all(trial_) && !entry->soft &&
          (options_.late_blocks || !edf_.harmless(*entry, line_, trial_))) {
        const bool past = entry->deadline <= clock_.now_s();
        plan.reject(job, past ? Reason{.code = Reason::Code::DeadlinePast}
                              : Reason{.code = Reason::Code::Promised,
                                       .wanted = entry->most,
                                       .available = edf_.free_now(),
                                       .from = view.now,
                                       .until = clock_.instant(entry->deadline),
                                       .earliest = clock_.instant(entry->new_end)});
        entries_[index(job)].reset();
        continue;
      }
      line_.push_back(entry);
      for (Entry* other : line_) accept(*other, true);
      if (entry->deadline != kNoDeadline_s && !entry->soft) {
        plan.admit(job, clock_.instant(entry->end));
      }
      any = true;
    }
    return any;
  }

  // The end of one that waits is told when somebody is let in, as released.
  static void accept(Entry& entry, bool tells_all = false) {
    entry.gpus = entry.new_gpus;
    entry.started = entry.started || entry.gpus > 0;
    if (!tells_all && entry.gpus == 0) return;
    entry.end = entry.new_end;
    entry.told = true;
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
    grants_->write(view, packer, seats_, plan);
  }

  const EdfOptions options_;
  ElasticClock clock_;
  EdfPlan edf_;
  const std::unique_ptr<ElasticGrants> grants_;
  int gpus_total_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;  // by job
  EdfLine line_;
  EdfLine trial_;
  std::vector<ElasticGrants::Seat> seats_;
};

}  // namespace

std::unique_ptr<Policy> make_edf(const EdfOptions& options) {
  return std::make_unique<Edf>(options);
}

}  // namespace orrery
