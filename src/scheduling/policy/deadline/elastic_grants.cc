#include "scheduling/policy/deadline/elastic_grants.h"

#include <algorithm>
#include <numeric>

#include "scheduling/placement/shape.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {
namespace {

// For a job that does not fit: the next smaller number of GPUs it can run on.
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

void ElasticGrants::write(const View& view, Packer& packer, std::span<const Request> requests,
                          Plan& plan) {
  for (const Request& request : requests) {
    if (request.gpus == 0) stop(view, request, plan);
  }
  by_size_.resize(requests.size());
  std::iota(by_size_.begin(), by_size_.end(), 0);
  std::ranges::stable_sort(by_size_, std::ranges::greater{},
                           [&](std::size_t i) { return requests[i].gpus; });
  placed_.resize(std::max(placed_.size(), requests.size()));
  if (!place_around(view, packer, requests)) place_all(view, packer, requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].gpus == 0) continue;
    if (placed_[i].empty()) {
      stop(view, requests[i], plan);
    } else {
      grant(view, requests[i], placed_[i], plan);
    }
  }
}

bool ElasticGrants::place_around(const View& view, Packer& packer,
                                 std::span<const Request> requests) {
  Ledger& ledger = packer.current();
  const Ledger::Mark mark = ledger.mark();
  const auto stays = [&](const Request& request) {
    return view.job(request.job).state == JobState::Running &&
           gpu_count(view.job(request.job).held.devices) == request.gpus;
  };
  for (const Request& request : requests) {
    const Job& job = view.job(request.job);
    if (job.state != JobState::Running || stays(request)) continue;
    ledger.release(job.held.devices, shape_on(*job.spec, gpu_count(job.held.devices)));
  }
  bool all = true;
  for (const std::size_t i : by_size_) {
    const Request& request = requests[i];
    placed_[i].clear();
    if (request.gpus == 0) continue;
    if (stays(request)) {
      placed_[i] = view.job(request.job).held.devices;
    } else {
      const ShapeId shape = packer.intern(shape_on(view.spec(request.job), request.gpus));
      all = all && packer.place(ledger, shape, placed_[i]);
    }
  }
  ledger.undo(mark);
  return all;
}

void ElasticGrants::place_all(const View& view, Packer& packer, std::span<const Request> requests) {
  Ledger& ledger = packer.blank();
  ledger.clear();
  for (const std::size_t i : by_size_) {
    placed_[i].clear();
    for (int gpus = requests[i].gpus; gpus > 0; gpus = fewer(view, requests[i].job, gpus)) {
      const ShapeId shape = packer.intern(shape_on(view.spec(requests[i].job), gpus));
      if (packer.place(ledger, shape, placed_[i])) break;
    }
  }
}

void ElasticGrants::grant(const View& view, const Request& request, const Devices& devices,
                          Plan& plan) {
  const Job& job = view.job(request.job);
  if (job.state == JobState::Running && job.held.devices == devices) return;
  const Shape shape = shape_on(*job.spec, gpu_count(devices));
  Grant& grant = plan.grant(request.job);
  grant.devices = devices;
  grant.cpu_milli = shape.cpu_milli;
  grant.memory_bytes = shape.memory_bytes;
  grant.iterations_per_s = speed_on(*view.workload, *job.spec, shape.gpus);
}

void ElasticGrants::stop(const View& view, const Request& request, Plan& plan) {
  if (view.job(request.job).state == JobState::Running) {
    plan.stop(request.job, {.code = Reason::Code::Outranked});
  } else if (request.is_new) {
    const Reason later{.code = Reason::Code::Later, .from = request.begins};
    const Reason busy{.code = Reason::Code::GpusBusy, .wanted = 1};
    plan.wait(request.job, request.begins == kNever ? busy : later);
  }
}

}  // namespace orrery
