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
    choose(view, packer.current().gpus_total());
    if (view.ended.empty() && asked_ == asked_before_) return refuse(view, packer, plan);
    lay_out(view, packer);
    write(view, plan);
    refuse(view, packer, plan);
    std::swap(asked_, asked_before_);
  }

 private:
  struct Asked {
    JobId job = kNoJob;
    bool chosen = false;  // there are GPUs for it, if not CPUs and memory

    bool operator==(const Asked&) const = default;
  };

  // Those who are asked, in the order in which they are.
  void choose(const View& view, int gpus_left) {
    asked_.clear();
    const bool runners_first = !options_.anew && !options_.preempt;
    const auto ask = [&](const HostLine::Entry& entry) {
      const bool chosen = entry.gpus <= gpus_left;
      if (chosen) gpus_left -= entry.gpus;
      if (chosen || !options_.chosen_by_gpus) asked_.push_back({entry.job, chosen});
    };
    const auto runs = [&](const HostLine::Entry& entry) {
      return view.job(entry.job).state == JobState::Running;
    };
    for (const HostLine::Entry& entry : line_.entries()) {
      if (!runners_first || runs(entry)) ask(entry);
    }
    if (!runners_first) return;
    for (const HostLine::Entry& entry : line_.entries()) {
      if (!runs(entry)) ask(entry);
    }
  }

  void lay_out(const View& view, Packer& packer) {
    Ledger& ledger = packer.blank();
    ledger.clear();
    hosting_.begin(ledger);
    askers_.clear();
    for (const Asked& asked : asked_) {
      // Those for whom there are no GPUs hope that somebody chosen finds no CPUs.
      if (options_.anew || asked.chosen) askers_.push_back(asker(view, ledger, asked));
    }
    if (!options_.anew) {
      for (const Asked& asked : asked_) {
        if (!asked.chosen) askers_.push_back(asker(view, ledger, asked));
      }
    }
    if (options_.largest_first) {
      std::ranges::stable_sort(askers_, std::greater<>(),
                               [](const HostAllocator::Asker& one) { return one.gpus.gpus; });
    }
    allocator_->seat(hosting_, askers_);
  }

  HostAllocator::Asker asker(const View& view, Ledger& ledger, const Asked& asked) const {
    const Job& job = view.job(asked.job);
    const JobSpec& spec = *job.spec;
    HostAllocator::Asker asker{.job = asked.job,
                               .need = &line_.need(asked.job),
                               .sensitivity = nullptr,
                               .gpus = gpus_of(spec)};
    if (spec.sensitivity != kNoSensitivity) {
      asker.sensitivity = &view.workload->sensitivities[index(spec.sensitivity)];
    }
    if (options_.anew) return asker;
    asker.left_s = view.work_left(asked.job) * spec.iteration_s / asker.need->fair_speed;
    asker.start_s = seconds(spec.start_cost);
    if (asked.chosen && job.state == JobState::Running) {
      asker.stays = &job.held.devices;
      ledger.take(job.held.devices, asker.gpus);
    }
    return asker;
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
  std::vector<Asked> asked_;
  std::vector<Asked> asked_before_;
  std::vector<HostAllocator::Asker> askers_;
  std::vector<char> runs_;  // by job
};

}  // namespace

std::unique_ptr<Policy> make_host_stage(std::unique_ptr<Order> order,
                                        std::unique_ptr<HostAllocator> allocator,
                                        const HostStageOptions& options) {
  return std::make_unique<HostStage>(std::move(order), std::move(allocator), options);
}

}  // namespace orrery
