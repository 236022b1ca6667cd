#include "policy/host_stage.h"

#include <algorithm>

#include "policy/host_line.h"

namespace orrery {
namespace {

Shape gpus_of(const JobSpec& spec) {
  Shape shape = shape_of(spec);
  shape.cpu_milli = 0;
  shape.memory_bytes = 0;
  return shape;
}

class HostStage final : public Policy {
 public:
  HostStage(std::unique_ptr<Order> order, std::unique_ptr<HostAllocator> allocator,
            const HostStageOptions& options)
      : options_(options),
        line_(std::move(order), options.boost),
        allocator_(std::move(allocator)) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    line_.update(view);
    plan.wake(line_.order().next_change(view));
    choose(packer.current().gpus_total());
    if (view.ended.empty() && asked_ == asked_before_) return refuse(view, packer, plan);
    lay_out(view, packer);
    write(view, plan);
    refuse(view, packer, plan);
    std::swap(asked_, asked_before_);
  }

 private:
  // Those who are asked, in the order in which they are.
  void choose(int gpus_left) {
    asked_.clear();
    for (const HostLine::Entry& entry : line_.entries()) {
      if (options_.chosen_by_gpus) {
        if (entry.gpus > gpus_left) continue;
        gpus_left -= entry.gpus;
      }
      asked_.push_back(entry.job);
    }
  }

  void lay_out(const View& view, Packer& packer) {
    Ledger& ledger = packer.blank();
    ledger.clear();
    hosting_.begin(ledger);
    in_turn_.assign(asked_.begin(), asked_.end());
    if (options_.largest_first) {
      std::ranges::stable_sort(in_turn_, std::greater<>(),
                               [&](JobId job) { return view.spec(job).gpus; });
    }
    for (const JobId job : in_turn_) {
      if (ledger.gpus_free() == 0) break;
      const JobSpec& spec = view.spec(job);
      if (spec.gpus > ledger.gpus_free()) continue;
      allocator_->seat(hosting_, {.job = job, .need = &line_.need(job), .gpus = gpus_of(spec)});
    }
  }

  void write(const View& view, Plan& plan) {
    runs_.assign(view.jobs.size(), false);
    for (const Hosting::Seat& seat : hosting_.seats()) runs_[index(seat.job)] = true;
    for (const JobId job : view.running) {
      if (runs_[index(job)]) continue;
      plan.stop(job, {.code = Reason::Code::Outranked});
      line_.order().stopped(view, job);
      line_.note_stop(view, job);
    }
    for (const Hosting::Seat& seat : hosting_.seats()) {
      const Job& job = view.job(seat.job);
      const bool stays = job.state == JobState::Running && job.held.devices == seat.devices &&
                         job.held.cpu_milli == seat.shape.cpu_milli &&
                         job.held.memory_bytes == seat.shape.memory_bytes;
      if (stays) continue;
      if (job.state != JobState::Running) line_.order().started(view, seat.job);
      Grant& grant = plan.grant(seat.job);
      grant.devices = seat.devices;
      grant.cpu_milli = seat.shape.cpu_milli;
      grant.memory_bytes = seat.shape.memory_bytes;
      grant.iterations_per_s = speed_of(*view.workload, *job.spec, seat);
    }
  }

  static double speed_of(const Workload& workload, const JobSpec& spec, const Hosting::Seat& seat) {
    double speed = 1 / spec.iteration_s;
    if (spec.sensitivity != kNoSensitivity && seat.held() != HostShare{}) {
      speed *= speed_with(workload.sensitivities[index(spec.sensitivity)], seat.held(), spec.gpus);
    }
    return speed;
  }

  void refuse(const View& view, const Packer& packer, Plan& plan) {
    for (const JobId job : view.arrived) {
      if (index(job) < runs_.size() && runs_[index(job)]) continue;
      plan.wait(job, packer.why_not(packer.current(), view.job(job).shape));
    }
  }

  const HostStageOptions options_;
  HostLine line_;
  std::unique_ptr<HostAllocator> allocator_;
  Hosting hosting_;
  std::vector<JobId> asked_;
  std::vector<JobId> asked_before_;
  std::vector<JobId> in_turn_;
  std::vector<char> runs_;  // by job
};

}  // namespace

std::unique_ptr<Policy> make_host_stage(std::unique_ptr<Order> order,
                                        std::unique_ptr<HostAllocator> allocator,
                                        const HostStageOptions& options) {
  return std::make_unique<HostStage>(std::move(order), std::move(allocator), options);
}

}  // namespace orrery
