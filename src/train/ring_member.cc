#include "train/ring_member.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {
namespace {

// The optimiser's count of steps travels among floats, in two parts that they hold exactly.
constexpr std::int64_t kLowPart = 1 << 20;

}  // namespace

RingMember::RingMember(const PartSetup& setup, const TrainPorts& ports, std::string own_address,
                       std::span<const float> parameters)
    : setup_(setup),
      ports_(ports),
      own_address_(std::move(own_address)),
      store_(parameters.size(), setup.optimizer) {
  const Status loaded = store_.load(parameters, 0, 0);
  INVARIANT(loaded.ok(), "parameters fit the store that was made for them");
}

Status RingMember::form(const RingPlace& place) {
  group_.reset();
  place_ = place;
  if (place.rank < 0 || place.size == 1) return {};
  TRY_ASSIGN(group_, ports_.join_all_reduce({.host = setup_.meeting_host,
                                             .port = setup_.meeting_port,
                                             .own_address = own_address_,
                                             .name = place.name,
                                             .rank = place.rank,
                                             .size = place.size,
                                             .patience = from_seconds(setup_.ring_patience_s),
                                             .device = "cpu"}));
  return place.source >= 0 ? take_over_state() : Status{};
}

Status RingMember::take_over_state() {
  const auto parameters = store_.parameters();
  const auto state = store_.optimizer().state();
  std::vector<float> all(parameters->begin(), parameters->end());
  all.insert(all.end(), state.begin(), state.end());
  const std::int64_t steps = store_.optimizer().steps();
  all.push_back(static_cast<float>(steps / kLowPart));
  all.push_back(static_cast<float>(steps % kLowPart));
  TRY(group_->copy_from(place_.source, all));
  if (place_.rank == place_.source) return {};
  const auto low = static_cast<std::int64_t>(all.back());
  const auto high = static_cast<std::int64_t>(all[all.size() - 2]);
  return store_.load(std::span(all).first(all.size() - 2), high * kLowPart + low, place_.version);
}

Result<double> RingMember::apply(const ApplyMessage& message) {
  auto done = store_.apply_in_ring(message, [this](std::span<float> sum) -> Status {
    if (place_.size == 1) return {};
    if (!group_) return Error{Code::Unavailable, "the ring is broken"};
    return group_->sum(sum);
  });
  if (!done.ok()) group_.reset();
  return done;
}

}  // namespace orrery
