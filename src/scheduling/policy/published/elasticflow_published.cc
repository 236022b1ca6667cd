#include "scheduling/policy/published/elasticflow_published.h"

#include <algorithm>
#include <utility>

#include "scheduling/policy/deadline/elasticflow.h"
#include "scheduling/policy/published/change_list.h"
#include "scheduling/policy/published/makers.h"
#include "scheduling/policy/published/node_fill_grants.h"
#include "scheduling/policy/published/released_clock.h"

namespace orrery {
namespace {

constexpr std::string_view kCappedModel = "bert";
constexpr int kCappedGpus = 16;

// Keeps every change it ever planned for, until a round is held then or until the last job that was
// to end then is to end at another time.
class ElasticFlowOpen final : public ElasticFlow {
 public:
  ElasticFlowOpen(const ElasticFlowOptions& options, std::unique_ptr<ElasticGrants> grants,
                  const ReleasedClock* clock)
      : ElasticFlow(options, std::move(grants)), clock_(clock) {}

 private:
  void begin(const View& view) override {
    if (clock_ != nullptr) list_put_off_ends();
    if (listed_.size() < view.jobs.size()) listed_.resize(view.jobs.size(), kNoDeadline_s);
    for (const FlowJob* job : line()) {
      if (view.has_ended(job->id)) list_end(*job, kNoDeadline_s);
    }
    const auto ended = [&](const FlowJob* job) { return view.has_ended(job->id); };
    std::erase_if(pending_, ended);
    std::erase_if(started_, ended);
  }

  // The last round's cost puts off the ends of the jobs that run.
  void list_put_off_ends() {
    for (const FlowJob* job : started_) {
      if (listed_[index(job->id)] != kNoDeadline_s) continue;
      const Time end = clock_->ends[index(job->id)];
      if (end == kNever) continue;
      listed_[index(job->id)] = clock().second(end);
      changes_.end(listed_[index(job->id)]);
    }
  }

  void entered(FlowJob& job, bool runs) override {
    listed_[index(job.id)] = kNoDeadline_s;
    (runs ? started_ : pending_).push_back(&job);
  }

  void planned() override {
    for (const FlowJob* job : line()) list_end(*job, job->end);
    const auto starts = [](const FlowJob* job) { return job->gpus > 0; };
    std::ranges::copy_if(pending_, std::back_inserter(started_), starts);
    for (const FlowJob* job : pending_) {
      const std::int64_t begins = job->planned.first_use();
      if (begins != kNoDeadline_s && begins > clock().now_s()) changes_.change(begins);
    }
    std::erase_if(pending_, starts);
  }

  void given(const ScaleUp::Gift& gift) override {
    list_end(*gift.job, gift.end);
    if (std::erase(pending_, gift.job) > 0) started_.push_back(gift.job);
  }

  void list_end(const FlowJob& job, std::int64_t end) {
    const std::int64_t before = std::exchange(listed_[index(job.id)], end);
    if (before == end) return;
    if (before != kNoDeadline_s) changes_.leave(before);
    if (end != kNoDeadline_s) changes_.end(end);
  }

  const FlowLine& line_to_place() override {
    placed_ = started_;
    placed_.insert(placed_.end(), pending_.begin(), pending_.end());
    return placed_;
  }

  void wake(Plan& plan) override {
    for (const FlowJob* job : started_) {
      const std::int64_t change = job->planned.next_step(clock().now_s());
      if (change != kNoDeadline_s) changes_.change(change);
    }
    for (const FlowJob* job : started_) {
      if (job->gpus > 0) list_end(*job, kNoDeadline_s);
    }
    changes_.forget(clock().now_s());
    const std::int64_t next = changes_.next();
    if (next != kNoDeadline_s) plan.wake(clock().instant(next));
  }

  const ReleasedClock* const clock_;
  ChangeList changes_;
  std::vector<std::int64_t> listed_;  // by job: its end in the list of changes, if it is there
  FlowLine pending_;
  FlowLine started_;
  FlowLine placed_;
};

}  // namespace

Result<std::unique_ptr<Policy>> elasticflow_of_elasticflow(const Options& options,
                                                           const PolicyContext& context) {
  TRY_ASSIGN(ElasticFlowOptions made, elasticflow_options(options, context));
  made.most_gpus = published_most_gpus;
  auto grants = make_node_fill_grants(FillOrder::BySize);
  if (made.admission == ElasticFlowOptions::Admission::None) {
    return make_elasticflow_open(made, std::move(grants), context.clock);
  }
  return make_elasticflow(made, std::move(grants));
}

int published_most_gpus(const Workload& workload, const JobSpec& job) {
  if (job.curve == kNoCurve) return job.gpus;
  const auto& points = workload.curves[index(job.curve)].points;
  int most = knee_gpus(workload, job);
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].iterations_per_s >= points[i - 1].iterations_per_s) continue;
    most = points[i - 1].gpus;
    break;
  }
  return workload.name_of(job.model) == kCappedModel ? std::min(most, kCappedGpus) : most;
}

std::unique_ptr<Policy> make_elasticflow_open(const ElasticFlowOptions& options,
                                              std::unique_ptr<ElasticGrants> grants,
                                              const ReleasedClock* clock) {
  return std::make_unique<ElasticFlowOpen>(options, std::move(grants), clock);
}

}  // namespace orrery
