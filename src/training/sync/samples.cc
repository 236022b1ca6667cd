#include "training/sync/samples.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace orrery {

SampleCursor::SampleCursor(std::int64_t next, const std::vector<Samples>& again)
    : next_(next), again_() {
  for (const Samples samples : again) give_back(samples);
}

Samples SampleCursor::take(std::int32_t count) {
  if (again_.empty()) {
    const Samples samples{next_, count};
    next_ += count;
    return samples;
  }
  Samples& lost = again_.front();
  const Samples samples{lost.first, std::min(count, lost.count)};
  lost.first += samples.count;
  lost.count -= samples.count;
  if (lost.count == 0) again_.erase(again_.begin());
  return samples;
}

void SampleCursor::give_back(Samples samples) {
  if (samples.count <= 0) return;
  auto place = std::ranges::lower_bound(again_, samples.first, {}, &Samples::first);
  place = again_.insert(place, samples);
  const auto touches = [](const Samples& a, const Samples& b) {
    return a.first + a.count == b.first;
  };
  if (place + 1 != again_.end() && touches(*place, *(place + 1))) {
    place->count += (place + 1)->count;
    again_.erase(place + 1);
  }
  if (place != again_.begin() && touches(*(place - 1), *place)) {
    (place - 1)->count += place->count;
    again_.erase(place);
  }
}

namespace {

// The share of each worker, in the membership's order, adding up to 1.
std::vector<double> wanted_shares(std::span<const std::pair<WorkerId, double>> shares,
                                  const Membership& membership, std::span<const int> seats) {
  std::vector<double> wanted(seats.size(), 1.0 / static_cast<double>(seats.size()));
  std::vector<std::size_t> place(static_cast<std::size_t>(membership.seats_ever()), seats.size());
  for (std::size_t i = 0; i < seats.size(); ++i) place[static_cast<std::size_t>(seats[i])] = i;
  for (const auto& [worker, share] : shares) {
    const int seat = membership.seat_of(worker);
    if (seat < 0 || place[static_cast<std::size_t>(seat)] == seats.size()) continue;
    wanted[place[static_cast<std::size_t>(seat)]] = std::isfinite(share) ? std::max(0.0, share) : 0;
  }
  double sum = 0;
  for (const double share : wanted) sum += share;
  for (double& share : wanted) {
    share = sum > 0 ? share / sum : 1.0 / static_cast<double>(seats.size());
  }
  return wanted;
}

}  // namespace

void split_batch(std::int32_t global_batch, std::int32_t least,
                 std::span<const std::pair<WorkerId, double>> shares, Membership& membership) {
  std::vector<int> seats;
  for (const int seat : membership.seats()) {
    membership[seat].batch = least;
    if (!membership[seat].retiring) seats.push_back(seat);
  }
  const auto count = static_cast<std::int64_t>(seats.size());
  if (count == 0 || count * least >= global_batch) return;
  // Each worker has the least. What is left goes to workers whose share is more than that, and the
  // odd samples to the worker furthest below its share, the first of several.
  const std::vector<double> wanted = wanted_shares(shares, membership, seats);
  std::vector<double> missing(seats.size());
  double missing_sum = 0;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    missing[i] = std::max(0.0, wanted[i] * global_batch - least);
    missing_sum += missing[i];
  }
  const std::int64_t spare = global_batch - count * least;
  std::int64_t left = spare;
  std::vector<std::pair<std::int64_t, std::size_t>> rest;  // in millionths of a sample
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const double due = static_cast<double>(spare) * missing[i] / missing_sum;
    // A due that is a whole number but for rounding is one.
    const double whole = std::floor(due + 1e-9);
    membership[seats[i]].batch += static_cast<std::int32_t>(whole);
    left -= static_cast<std::int64_t>(whole);
    rest.emplace_back(std::llround((due - whole) * 1e6), i);
  }
  std::ranges::stable_sort(rest, std::greater{}, &std::pair<std::int64_t, std::size_t>::first);
  for (std::int64_t k = 0; k < left; ++k) {
    ++membership[seats[rest[static_cast<std::size_t>(k)].second]].batch;
  }
}

}  // namespace orrery
