#include "scheduling/policy/deadline/elastic_layout.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr Duration kAtOnce = std::chrono::milliseconds(1);

// A job whose fixed placement is elsewhere moves, even if it holds as many GPUs as before.
bool stays(const View& view, const ElasticJob& job) {
  return job.round.target == job.now.held && (!job.promise.fixed || job.now.held == 0 ||
                                              job.promise.place == view.job(job.id).held.devices);
}

}  // namespace

void ElasticLayout::lay_out(const View& view, Packer& packer, std::span<ElasticJob* const> jobs,
                            Promises& promises, Plan& plan) {
  now_ = view.now;
  jobs_ = jobs;
  without_.clear();
  placed_.clear();
  moved_.clear();
  if (places_.size() < view.jobs.size()) places_.resize(view.jobs.size());
  is_placed_.assign(view.jobs.size(), 0);
  sort_out(view, packer);
  for (ElasticJob* job : changed_) {
    if (job->round.target == job->round.planned && job->round.target < job->now.held &&
        shrink(view, packer, *job)) {
      continue;
    }
    const bool found = job->round.planned > 0 ? place_promised(view, packer, *job, promises)
                                              : place_leftover(packer, *job);
    if (!found) without_.push_back(job);
  }
  fill_holes(packer);
  for (ElasticJob* job : growers_) {
    if (is_placed_[index(job->id)] == 0) grow(view, packer, *job, promises);
  }
  for (ElasticJob* job : placed_) grant(*job, plan);
  // A move is a start that no plan contains.
  for (ElasticJob* job : moved_) job->now.ready = now_ + promises.start_cost(*job);
  for (ElasticJob* job : without_) {
    if (job->round.planned > 0) moved_.push_back(job);
  }
  for (ElasticJob* job : moved_) {
    const int held = std::exchange(job->now.held, job->round.target);
    const bool is_planned = !job->promise.given || job->promise.fixed || promises.disturbed(*job);
    // One that is late already has been seen to.
    if (!is_planned && !job->promise.broken) plan.wake(now_ + kAtOnce);
    job->now.held = held;
  }
}

void ElasticLayout::sort_out(const View& view, Packer& packer) {
  changed_.clear();
  growers_.clear();
  clear_for_fixed(view);
  for (ElasticJob* job : jobs_) {
    const bool in_the_way = !job->promise.fixed && is_in_the_way(view, *job);
    if (stays(view, *job) && !in_the_way) continue;
    if (!in_the_way && job->now.held > 0 && job->round.target > job->now.held &&
        job->now.held >= job->round.planned) {
      growers_.push_back(job);
      continue;
    }
    if (job->now.held > 0) {
      packer.current().release(view.job(job->id).held.devices,
                               packer.shape(job->shape(job->now.held)));
    }
    if (job->promise.fixed) continue;
    (job->round.target > 0 ? changed_ : without_).push_back(job);
  }
  for (ElasticJob* job : jobs_) {
    if (!job->promise.fixed || stays(view, *job)) continue;
    places_[index(job->id)] = job->promise.place;
    packer.current().take(job->promise.place, packer.shape(job->shape(job->round.target)));
    set_placed(*job);
  }
  // Promises first, then the largest.
  const auto rank = [](const ElasticJob* job) {
    return std::tuple(job->round.planned == 0, -job->capacity(job->round.target), job->id);
  };
  std::ranges::stable_sort(changed_, {}, rank);
  std::ranges::stable_sort(growers_, {}, rank);
}

// On nodes where a placement is fixed in this round, all other jobs are placed again.
void ElasticLayout::clear_for_fixed(const View& view) {
  cleared_.assign(view.cluster->nodes.size(), 0);
  any_cleared_ = false;
  for (const ElasticJob* job : jobs_) {
    if (!job->promise.fixed || stays(view, *job)) continue;
    any_cleared_ = true;
    for (const NodeShare& share : job->promise.place) cleared_[index(share.node)] = 1;
  }
}

bool ElasticLayout::is_in_the_way(const View& view, const ElasticJob& job) const {
  if (!any_cleared_ || job.now.held == 0) return false;
  return std::ranges::any_of(view.job(job.id).held.devices, [&](const NodeShare& share) {
    return cleared_[index(share.node)] != 0;
  });
}

void ElasticLayout::set_placed(ElasticJob& job) {
  if (is_placed_[index(job.id)] != 0) return;
  is_placed_[index(job.id)] = 1;
  placed_.push_back(&job);
}

bool ElasticLayout::place(Packer& packer, ElasticJob& job, int option) {
  return packer.place(packer.current(), job.shape(option), places_[index(job.id)]);
}

// The first GPUs of an aligned block are an aligned block again.
bool ElasticLayout::shrink(const View& view, Packer& packer, ElasticJob& job) {
  Devices& devices = places_[index(job.id)];
  devices.clear();
  const Shape& own = packer.shape(job.shape(job.round.target));
  int left = own.gpus;
  for (const NodeShare& share : view.job(job.id).held.devices) {
    std::uint64_t gpus = share.gpus;
    while (std::popcount(gpus) > left) gpus ^= std::bit_floor(gpus);
    devices.push_back({share.node, gpus});
    left -= std::popcount(gpus);
    if (left == 0) break;
  }
  if (!packer.current().can_take(devices, own)) return false;
  packer.current().take(devices, own);
  set_placed(job);
  return true;
}

bool ElasticLayout::place_promised(const View& view, Packer& packer, ElasticJob& job,
                                   Promises& promises) {
  if (job.round.target != job.round.planned && place(packer, job, job.round.target)) {
    if (promises.detour(job, job.round.target)) {
      set_placed(job);
      return true;
    }
    packer.current().release(places_[index(job.id)], packer.shape(job.shape(job.round.target)));
  }
  job.round.target = job.round.planned;
  if (!place(packer, job, job.round.target) && !place_by_moving(view, packer, job, promises))
    return false;
  set_placed(job);
  return true;
}

bool ElasticLayout::place_leftover(Packer& packer, ElasticJob& job) {
  for (; job.round.target > 0; --job.round.target) {
    if (!place(packer, job, job.round.target)) continue;
    set_placed(job);
    return true;
  }
  return false;
}

// Where jobs take less than their capacity, other jobs may still fit.
void ElasticLayout::fill_holes(Packer& packer) {
  for (ElasticJob* job : jobs_) {
    if (job->round.target > 0 || job->promise.given || job->curve->top() == 0) continue;
    if (packer.current().gpus_free() == 0) return;
    job->round.target = 1;
    if (place_leftover(packer, *job)) std::erase(without_, job);
  }
}

void ElasticLayout::grow(const View& view, Packer& packer, ElasticJob& job, Promises& promises) {
  const Devices& old = view.job(job.id).held.devices;
  const Shape own = packer.shape(job.shape(job.now.held));
  packer.current().release(old, own);
  for (; job.round.target > job.now.held; --job.round.target) {
    if (!place(packer, job, job.round.target)) continue;
    if (promises.detour(job, job.round.target)) return set_placed(job);
    packer.current().release(places_[index(job.id)], packer.shape(job.shape(job.round.target)));
  }
  packer.current().take(old, own);
}

bool ElasticLayout::place_by_moving(const View& view, Packer& packer, ElasticJob& job,
                                    const Promises& promises) {
  candidates_.clear();
  MoveCandidates moves(packer, packer.current());
  for (ElasticJob* other : jobs_) {
    const bool placed = is_placed_[index(other->id)] != 0;
    const bool stays =
        other->now.held > 0 &&
        (other->round.target == other->now.held ||
         (other->round.target > other->now.held && other->now.held >= other->round.planned));
    if (other == &job || (!placed && !stays)) continue;
    // A promise with no time in hand is not disturbed; a job that just starts loses nothing.
    const bool tight = other->promise.given && !other->promise.attempt && promises.is_tight(*other);
    const double cost = other->promise.fixed   ? -1
                        : placed               ? 0
                        : tight                ? -1
                        : other->promise.given ? 10
                                               : 1;
    moves.add(other->shape(placed ? other->round.target : other->now.held),
              placed ? places_[index(other->id)] : view.job(other->id).held.devices, cost);
    candidates_.push_back(other);
  }
  if (!moves.place(job.shape(job.round.target), places_[index(job.id)])) return false;
  for (const MoveCandidates::Move& move : moves.moves()) {
    ElasticJob& other = *candidates_[move.candidate];
    places_[index(other.id)] = moves.devices(move.candidate);
    if (is_placed_[index(other.id)] != 0) continue;
    other.round.target = other.now.held;
    moved_.push_back(&other);
    set_placed(other);
  }
  return true;
}

void ElasticLayout::grant(const ElasticJob& job, Plan& plan) {
  const int gpus = (*job.curve)[job.round.target].gpus;
  const Shape own = shape_on(*job.spec, gpus);
  Grant& grant = plan.grant(job.id);
  grant.devices = places_[index(job.id)];
  INVARIANT(gpu_count(grant.devices) == gpus, "a place has as many GPUs as were granted");
  grant.cpu_milli = own.cpu_milli;
  grant.memory_bytes = own.memory_bytes;
  grant.iterations_per_s = (*job.curve)[job.round.target].speed;
}

}  // namespace orrery
