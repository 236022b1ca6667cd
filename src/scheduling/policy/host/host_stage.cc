#include "scheduling/policy/host/host_stage.h"

#include <algorithm>

#include "scheduling/policy/adopt.h"
#include "scheduling/policy/host/host_line.h"

namespace orrery {
namespace {

class HostStage final : public Policy {
 public:
  HostStage(std::unique_ptr<Order> order, std::unique_ptr<HostAllocator> allocator,
            const HostStageOptions& options)
      : options_(options),
        line_(std::move(order), options.boost),
        allocator_(std::move(allocator)) {}

  bool adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) override {
    return adopt_hosted(view, job, grant);
  }

  void plan(const View& view, Packer& packer, Plan& plan) override {
    line_.update(view);
    plan.wake(line_.order().next_change(view));
    line_.choose(packer.current().gpus_total(),
                 {.runners_first = !options_.rebuilds && !options_.preempt,
                  .only_chosen = options_.chosen_by_gpus},
                 asked_);
    if (view.ended.empty() && asked_ == asked_before_) return refuse(view, packer, plan);
    lay_out(view, packer);
    write(view, plan);
    refuse(view, packer, plan);
    std::swap(asked_, asked_before_);
  }

 private:
  void lay_out(const View& view, Packer& packer) {
    Ledger& ledger = packer.blank();
    const bool resumes = options_.rebuilds && allocator_->resumes();
    if (!resumes || !has_begun_) {
      ledger.clear();
      hosting_.begin(ledger);
    }
    has_begun_ = true;
    askers_.clear();
    const auto ask_all = [&](bool chosen) {
      for (const HostLine::Asked& asked : asked_) {
        if (!options_.rebuilds && asked.chosen != chosen) continue;
        askers_.push_back(asker(view, ledger, asked));
      }
    };
    ask_all(true);
    // The jobs for which there are no GPUs are tried in case a chosen one finds no CPUs.
    if (!options_.rebuilds) ask_all(false);
    if (options_.largest_first) {
      std::ranges::stable_sort(askers_, std::greater<>(),
                               [](const HostAllocator::Asker& one) { return one.gpus.gpus; });
    }
    std::size_t same = 0;
    while (resumes && same < std::min(askers_.size(), seated_before_.size()) &&
           askers_[same].job == seated_before_[same]) {
      ++same;
    }
    allocator_->seat(hosting_, askers_, same);
    seated_before_.resize(same);
    for (std::size_t i = same; i < askers_.size(); ++i) seated_before_.push_back(askers_[i].job);
  }

  HostAllocator::Asker asker(const View& view, Ledger& ledger, const HostLine::Asked& asked) const {
    const Job& job = view.job(asked.job);
    const JobSpec& spec = *job.spec;
    HostAllocator::Asker asker{.job = asked.job, .need = &line_.need(asked.job)};
    asker.gpus = with_host(shape_of(spec), {});
    if (spec.sensitivity != kNoSensitivity) {
      asker.kind = spec.sensitivity;
      asker.sensitivity = &view.workload->sensitivities[index(spec.sensitivity)];
    }
    if (allocator_->weighs_moves()) {
      asker.left_s = view.work_left(asked.job) * spec.iteration_s / asker.need->fair_speed;
      asker.start_s = seconds(spec.start_cost);
    }
    if (!options_.rebuilds && asked.chosen && job.state == JobState::Running) {
      asker.stays = &job.held.devices;
      ledger.take(job.held.devices, asker.gpus);
    }
    return asker;
  }

  bool is_seated(JobId job) const {
    return index(job) < seated_in_.size() && seated_in_[index(job)] == round_;
  }
  void write(const View& view, Plan& plan) {
    ++round_;
    seated_in_.resize(view.jobs.size());
    for (const Hosting::Seat& seat : hosting_.seats()) seated_in_[index(seat.job)] = round_;
    for (const JobId job : view.running) {
      if (is_seated(job)) continue;
      plan.stop(job, {.code = Reason::Code::Outranked});
      line_.order().stopped(view, job);
    }
    for (const Hosting::Seat& seat : hosting_.seats()) {
      const Job& job = view.job(seat.job);
      const bool runs = job.state == JobState::Running;
      const bool holds_the_same =
          runs && HostShare{job.held.cpu_milli, job.held.memory_bytes} == seat.held();
      if (holds_the_same && job.held.devices == seat.devices) continue;
      if (!runs) line_.order().started(view, seat.job);
      Grant& grant = plan.grant(seat.job);
      grant.devices = seat.devices;
      grant.cpu_milli = seat.shape.cpu_milli;
      grant.memory_bytes = seat.shape.memory_bytes;
      grant.iterations_per_s =
          holds_the_same ? job.held.iterations_per_s
                         : host_speed(*view.workload, *job.spec, seat.held(), seat.shape.gpus) /
                               job.spec->iteration_s;
    }
    line_.note_round(view.now, [this](JobId job) { return is_seated(job); });
  }

  void refuse(const View& view, const Packer& packer, Plan& plan) {
    for (const JobId job : view.arrived) {
      if (is_seated(job)) continue;
      plan.wait(job, packer.why_not(packer.current(), view.job(job).shape));
    }
  }

  const HostStageOptions options_;
  HostLine line_;
  std::unique_ptr<HostAllocator> allocator_;
  Hosting hosting_;
  std::vector<HostLine::Asked> asked_;
  std::vector<HostLine::Asked> asked_before_;
  std::vector<HostAllocator::Asker> askers_;
  std::vector<JobId> seated_before_;  // the jobs asked when `hosting_` came about
  bool has_begun_ = false;
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> seated_in_;  // by job: the last round it was seated in
};

}  // namespace

std::unique_ptr<Policy> make_host_stage(std::unique_ptr<Order> order,
                                        std::unique_ptr<HostAllocator> allocator,
                                        const HostStageOptions& options) {
  return std::make_unique<HostStage>(std::move(order), std::move(allocator), options);
}

}  // namespace orrery
