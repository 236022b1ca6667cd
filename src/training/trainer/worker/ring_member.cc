#include "training/trainer/worker/ring_member.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"

namespace orrery {
namespace {

// Counts travel among floats, in two parts that they hold exactly.
constexpr std::int64_t kLowPart = 1 << 20;

void push_count(std::vector<float>& floats, std::int64_t count) {
  const std::int64_t high = count / kLowPart;
  floats.push_back(static_cast<float>(high));
  floats.push_back(static_cast<float>(count % kLowPart));
}

std::int64_t pop_count(std::vector<float>& floats) {
  const auto low = static_cast<std::int64_t>(floats.back());
  floats.pop_back();
  const auto high = static_cast<std::int64_t>(floats.back());
  floats.pop_back();
  return high * kLowPart + low;
}

// A number between two counts, in three parts that add up to it exactly.
void push_number(std::vector<float>& floats, double number) {
  for (int part = 0; part < 3; ++part) {
    floats.push_back(static_cast<float>(number));
    number -= static_cast<double>(floats.back());
  }
}

double pop_number(std::vector<float>& floats) {
  double number = 0;
  for (int part = 0; part < 3; ++part) {
    number += static_cast<double>(floats.back());
    floats.pop_back();
  }
  return number;
}

}  // namespace

RingMember::RingMember(const PartSetup& setup, const TrainPorts& ports, Home home,
                       std::span<const float> parameters)
    : setup_(setup),
      ports_(ports),
      home_(std::move(home)),
      store_(parameters.size(), setup.optimizer) {
  const Status loaded = store_.load(parameters, 0, 0);
  INVARIANT(loaded.ok(), "parameters fit the store that was made for them");
}

Status RingMember::form(const RingPlace& place) {
  group_.reset();
  place_ = place;
  if (place.rank < 0 || place.size == 1) return {};
  TRY_ASSIGN(group_,
             ports_.join_all_reduce(
                 {.host = setup_.meeting_host,
                  .port = setup_.meeting_port,
                  .own_address = place.own_address.empty() ? home_.address : place.own_address,
                  .name = place.name,
                  .rank = place.rank,
                  .size = place.size,
                  .patience = from_seconds(setup_.ring_patience_s),
                  .device = place.on_gpus ? home_.device : "cpu"}));
  return place.source >= 0 ? take_over_state() : Status{};
}

Status RingMember::take_over_state() {
  const auto parameters = store_.parameters();
  const auto state = store_.optimizer().state();
  std::vector<float> all(parameters->begin(), parameters->end());
  all.insert(all.end(), state.begin(), state.end());
  push_number(all, store_.optimizer().batches());
  push_count(all, store_.version());
  TRY(group_->copy_from(place_.source, all));
  const std::int64_t version = pop_count(all);
  const double batches = pop_number(all);
  if (version != place_.version) {
    group_.reset();
    return Error{
        Code::DataLoss,
        fmt::format("the member that should have version {} of the parameters has version {}",
                    place_.version, version)};
  }
  return place_.rank == place_.source ? Status{} : store_.load(all, batches, version);
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
