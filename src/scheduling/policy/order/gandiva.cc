#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "scheduling/policy/families.h"
#include "scheduling/policy/order/in_order.h"
#include "scheduling/policy/order/order_entry.h"
#include "scheduling/policy/order/policies.h"

namespace orrery {
namespace {

// Time slicing: at every tick of the quantum, running jobs that have had their time slice are
// preempted for the jobs that have waited longest. All slices end together, so that a wide job can
// take the place of many narrow ones. A slice is half a quantum at least, from the first iteration
// on, unless the first waiting job was passed over at the last tick. A job that is not preempted
// has another slice at once; while no job waits, no job is stopped.
//
// After Gandiva (OSDI '18), its suspend and resume. There a job keeps to a set of nodes with jobs
// of its size; here the whole cluster is one set, so that no set is idle while another is full.
class TimeSlices final : public Order {
 public:
  explicit TimeSlices(Duration quantum) : quantum_(quantum) {}

  Rank rank(const View& /*view*/, JobId job) const override { return jobs_[index(job)].rank; }
  bool is_settled() const override { return true; }

  void arrived(const View& view, JobId job) override {
    if (jobs_.size() < view.jobs.size()) jobs_.resize(view.jobs.size());
    line_up(view, job);
  }

  void started(const View& view, JobId job) override {
    Standing& standing = jobs_[index(job)];
    waiting_.erase({standing.begun, job});
    standing = {.rank = {-std::numeric_limits<double>::infinity(), ++tickets_}, .begun = view.now};
  }

  void stopped(const View& view, JobId job) override { line_up(view, job); }

  void refresh(const View& view, std::vector<JobId>& changed) override {
    for (const JobId job : view.ended) waiting_.erase({jobs_[index(job)].begun, job});
    if (view.now < tick_) return;
    tick_ = kNever;
    if (waiting_.empty()) return;
    const JobId first = waiting_.begin()->second;
    const Duration slice = std::exchange(first_, first) == first ? Duration{} : quantum_ / 2;
    for (const JobId job : view.running) {
      Standing& standing = jobs_[index(job)];
      const Time from = std::max(standing.begun, view.job(job).ready);
      if (view.now - from < slice) continue;
      // Behind all jobs that have waited, but before those preempted now; the one that had most is
      // last.
      const Duration had = view.job(job).attained_at(view.now);
      standing.rank = {seconds(view.now), had.count() - std::numeric_limits<std::int64_t>::max()};
      changed.push_back(job);
    }
  }

  Time next_change(const View& view) override {
    if (waiting_.empty() || quantum_ == Duration::zero()) return tick_ = kNever;
    const Duration since = view.now.time_since_epoch();
    return tick_ = Time((since / quantum_ + 1) * quantum_);
  }

 private:
  struct Standing {
    Rank rank;
    Time begun{};  // to run, or to wait
  };

  void line_up(const View& view, JobId job) {
    jobs_[index(job)] = {.rank = {seconds(view.now), ++tickets_}, .begun = view.now};
    waiting_.insert({view.now, job});
  }

  const Duration quantum_;
  std::vector<Standing> jobs_;
  std::int64_t tickets_ = 0;
  std::set<std::pair<Time, JobId>> waiting_;  // and since when
  JobId first_ = kNoJob;                      // of them, at the last tick
  Time tick_ = kNever;
};

}  // namespace

std::unique_ptr<Policy> make_gandiva(const GandivaOptions& options) {
  return make_in_order(std::make_unique<TimeSlices>(options.quantum), {});
}

namespace {

constexpr std::array kOptions = {OptionInfo{
    "quantum", "waiting jobs take over from running ones this often; 0s: never", "1h", "0s 10m"}};

Made gandiva(const Options& options, const PolicyContext& context) {
  GandivaOptions made{.workload = &context.workload};
  TRY_ASSIGN(made.quantum, options.duration("quantum"));
  return make_gandiva(made);
}

}  // namespace

const PolicyInfo kGandivaPolicy = {
    "gandiva", "time slicing: waiting jobs take over from running ones", kOptions, gandiva};

}  // namespace orrery
