#include "scheduling/policy/deadline/elastic_grants.h"

#include <algorithm>
#include <numeric>

#include "scheduling/placement/shape.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {
namespace {

// Fewer GPUs than meant, for a job that found no room: the next smaller count it can run on.
int fewer(const View& view, JobId job, int gpus) {
  const JobSpec& spec = view.spec(job);
  if (spec.curve == kNoCurve) return 0;
  int best = 0;
  for (const SpeedCurve::Point& point : view.workload->curves[index(spec.curve)].points) {
    if (point.gpus < gpus) best = point.gpus;
  }
  return best == 0 && spec.gpus < gpus ? spec.gpus : best;
}

}  // namespace

void ElasticGrants::write(const View& view, Packer& packer, std::span<const Seat> seats,
                          Plan& plan) {
  for (const Seat& seat : seats) {
    if (seat.gpus == 0) stop(view, seat, plan);
  }
  by_size_.resize(seats.size());
  std::iota(by_size_.begin(), by_size_.end(), 0);
  std::ranges::stable_sort(by_size_, std::ranges::greater{},
                           [&](std::size_t i) { return seats[i].gpus; });
  placed_.resize(std::max(placed_.size(), seats.size()));
  if (!place_around(view, packer, seats)) place_all(view, packer, seats);
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (seats[i].gpus == 0) continue;
    if (placed_[i].empty()) {
      stop(view, seats[i], plan);
    } else {
      grant(view, seats[i], placed_[i], plan);
    }
  }
}

bool ElasticGrants::place_around(const View& view, Packer& packer, std::span<const Seat> seats) {
  Ledger& ledger = packer.current();
  const Ledger::Mark mark = ledger.mark();
  const auto stays = [&](const Seat& seat) {
    return view.job(seat.job).state == JobState::Running &&
           gpu_count(view.job(seat.job).held.devices) == seat.gpus;
  };
  for (const Seat& seat : seats) {
    const Job& job = view.job(seat.job);
    if (job.state != JobState::Running || stays(seat)) continue;
    ledger.release(job.held.devices, shape_on(*job.spec, gpu_count(job.held.devices)));
  }
  bool all = true;
  for (const std::size_t i : by_size_) {
    const Seat& seat = seats[i];
    placed_[i].clear();
    if (seat.gpus == 0) continue;
    if (stays(seat)) {
      placed_[i] = view.job(seat.job).held.devices;
    } else {
      const ShapeId shape = packer.intern(shape_on(view.spec(seat.job), seat.gpus));
      all = all && packer.place(ledger, shape, placed_[i]);
    }
  }
  ledger.undo(mark);
  return all;
}

void ElasticGrants::place_all(const View& view, Packer& packer, std::span<const Seat> seats) {
  Ledger& ledger = packer.blank();
  ledger.clear();
  for (const std::size_t i : by_size_) {
    placed_[i].clear();
    for (int gpus = seats[i].gpus; gpus > 0; gpus = fewer(view, seats[i].job, gpus)) {
      const ShapeId shape = packer.intern(shape_on(view.spec(seats[i].job), gpus));
      if (packer.place(ledger, shape, placed_[i])) break;
    }
  }
}

void ElasticGrants::grant(const View& view, const Seat& seat, const Devices& devices, Plan& plan) {
  const Job& job = view.job(seat.job);
  if (job.state == JobState::Running && job.held.devices == devices) return;
  const Shape shape = shape_on(*job.spec, gpu_count(devices));
  Grant& grant = plan.grant(seat.job);
  grant.devices = devices;
  grant.cpu_milli = shape.cpu_milli;
  grant.memory_bytes = shape.memory_bytes;
  grant.iterations_per_s = speed_on(*view.workload, *job.spec, shape.gpus);
}

void ElasticGrants::stop(const View& view, const Seat& seat, Plan& plan) {
  if (view.job(seat.job).state == JobState::Running) {
    plan.stop(seat.job, {.code = Reason::Code::Outranked});
  } else if (seat.is_new) {
    const Reason later{.code = Reason::Code::Later, .from = seat.begins};
    const Reason busy{.code = Reason::Code::GpusBusy, .wanted = 1};
    plan.wait(seat.job, seat.begins == kNever ? busy : later);
  }
}

}  // namespace orrery
