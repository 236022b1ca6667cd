#include "policy/elastic_layout.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/invariant.h"

namespace orrery {

void ElasticLayout::lay_out(const View& view, Packer& packer, std::span<ElasticJob* const> jobs,
                            Plan& plan) {
  now_ = view.now;
  jobs_ = jobs;
  changed_.clear();
  without_.clear();
  placed_.clear();
  if (places_.size() < view.jobs.size()) places_.resize(view.jobs.size());
  is_placed_.assign(view.jobs.size(), 0);
  for (ElasticJob* job : jobs) {
    if (job->target == job->held) continue;
    if (job->held > 0) {
      packer.current().release(view.job(job->id).held.devices,
                               packer.shape(shape(packer, *job, job->held)));
    }
    if (job->target > 0) {
      changed_.push_back(job);
    } else {
      without_.push_back(job);
    }
  }
  // Promises first, then the largest.
  std::ranges::stable_sort(changed_, {}, [](const ElasticJob* job) {
    return std::tuple(job->planned == 0, -job->room(job->target), job->id);
  });
  for (ElasticJob* job : changed_) {
    if (job->target < job->held && shrink(view, packer, *job)) continue;
    if (!settle(view, packer, *job)) without_.push_back(job);
  }
  for (ElasticJob* job : placed_) grant(packer, *job, plan);
}

// The first GPUs of an aligned block are an aligned block again.
bool ElasticLayout::shrink(const View& view, Packer& packer, ElasticJob& job) {
  Devices& devices = places_[index(job.id)];
  devices.clear();
  int left = (*job.ladder)[job.target].gpus;
  for (const NodeShare& share : view.job(job.id).held.devices) {
    std::uint64_t gpus = share.gpus;
    while (std::popcount(gpus) > left) gpus ^= std::bit_floor(gpus);
    if ((gpus & ~packer.current().free_mask(static_cast<int>(share.node))) != 0) return false;
    devices.push_back({share.node, gpus});
    left -= std::popcount(gpus);
    if (left == 0) break;
  }
  const ShapeId id = shape(packer, job, job.target);
  for (const NodeShare& share : devices) {
    const int node = static_cast<int>(share.node);
    if (!packer.current().fits(node, std::popcount(share.gpus), packer.shape(id))) return false;
  }
  packer.current().take(devices, packer.shape(id));
  placed_.push_back(&job);
  is_placed_[index(job.id)] = 1;
  return true;
}

bool ElasticLayout::settle(const View& view, Packer& packer, ElasticJob& job) {
  Devices& devices = places_[index(job.id)];
  const auto done = [&] {
    placed_.push_back(&job);
    is_placed_[index(job.id)] = 1;
    return true;
  };
  for (; job.target > 0; --job.target) {
    if (job.target == job.held) {
      // Back where it was, if nobody took it meanwhile.
      const Devices& old = view.job(job.id).held.devices;
      const Shape& own = packer.shape(shape(packer, job, job.held));
      const bool free = std::ranges::all_of(old, [&](const NodeShare& share) {
        const int node = static_cast<int>(share.node);
        return (share.gpus & ~packer.current().free_mask(node)) == 0 &&
               packer.current().fits(node, std::popcount(share.gpus), own);
      });
      if (free) {
        packer.current().take(old, own);
        return true;
      }
    }
    const ShapeId id = shape(packer, job, job.target);
    if (packer.place(packer.current(), id, devices)) return done();
    if (job.target == job.planned && move_others(view, packer, job, id)) return done();
  }
  return false;
}

bool ElasticLayout::move_others(const View& view, Packer& packer, ElasticJob& job, ShapeId id) {
  residents_.clear();
  resident_jobs_.clear();
  moves_.clear();
  for (ElasticJob* other : jobs_) {
    const bool placed = is_placed_[index(other->id)] != 0;
    if (other == &job || (!placed && (other->held == 0 || other->target != other->held))) continue;
    const int rung = placed ? other->target : other->held;
    // A promise with no time in hand is the last to be disturbed; who just starts loses nothing.
    const bool tight =
        other->promised && other->plan.end + other->spec->start_cost > other->deadline;
    const double cost = other->pinned ? -1 : placed ? 0 : tight ? 1e6 : other->promised ? 10 : 1;
    residents_.push_back({other->id, shape(packer, *other, rung),
                          placed ? places_[index(other->id)] : view.job(other->id).held.devices,
                          cost});
    resident_jobs_.push_back(other);
  }
  if (!make_room(packer, packer.current(), id, residents_, places_[index(job.id)], moves_)) {
    return false;
  }
  for (const Move& move : moves_) {
    ElasticJob* other = resident_jobs_[move.resident];
    places_[index(other->id)] = residents_[move.resident].devices;
    if (is_placed_[index(other->id)] != 0) continue;
    is_placed_[index(other->id)] = 1;
    placed_.push_back(other);
  }
  return true;
}

void ElasticLayout::grant(const Packer& packer, const ElasticJob& job, Plan& plan) {
  const int gpus = (*job.ladder)[job.target].gpus;
  const Shape own = shape_on(*job.spec, gpus);
  Grant& grant = plan.grant(job.id);
  grant.devices = places_[index(job.id)];
  INVARIANT(gpu_count(grant.devices) == gpus, "a place has as many GPUs as were granted");
  grant.cpu_milli = own.cpu_milli;
  grant.memory_bytes = own.memory_bytes;
  grant.iterations_per_s = job.speed(job.target);
  static_cast<void>(packer);
}

}  // namespace orrery
