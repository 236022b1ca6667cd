#include "training/sync/task_table.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace orrery {

std::size_t TaskTable::place_of(std::int64_t number) const {
  std::size_t place = home(number);
  while (places_[place].number != 0 && places_[place].number != number) {
    place = (place + 1) & (places_.size() - 1);
  }
  return place;
}

OpenTask& TaskTable::add(std::int64_t number) {
  if (2 * (count_ + 1) > places_.size()) widen();
  const std::size_t place = place_of(number);
  INVARIANT(number > 0 && places_[place].number == 0, "a task's number is used once");
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  places_[place] = {number, free_.back()};
  free_.pop_back();
  ++count_;
  return slots_[places_[place].slot];
}

OpenTask* TaskTable::find(std::int64_t number) {
  if (number <= 0) return nullptr;
  const Place& place = places_[place_of(number)];
  return place.number == 0 ? nullptr : &slots_[place.slot];
}

void TaskTable::remove(std::int64_t number) {
  std::size_t hole = place_of(number);
  INVARIANT(places_[hole].number == number, "only what is open is removed");
  OpenTask& slot = slots_[places_[hole].slot];
  std::vector<std::int64_t> merged = std::move(slot.merged);
  merged.clear();
  slot = {};
  slot.merged = std::move(merged);  // its memory serves the next
  free_.push_back(places_[hole].slot);
  --count_;
  // Whatever comes after the hole and is not at home is moved up, so that no search ends too early.
  for (std::size_t next = (hole + 1) & (places_.size() - 1); places_[next].number != 0;
       next = (next + 1) & (places_.size() - 1)) {
    const std::size_t from_home = (next - home(places_[next].number)) & (places_.size() - 1);
    const std::size_t from_hole = (next - hole) & (places_.size() - 1);
    if (from_home < from_hole) continue;
    places_[hole] = places_[next];
    hole = next;
  }
  places_[hole] = {};
}

std::vector<std::int64_t> TaskTable::numbers() const {
  std::vector<std::int64_t> numbers;
  for (const Place& place : places_) {
    if (place.number != 0) numbers.push_back(place.number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

void TaskTable::widen() {
  const std::vector<Place> before = std::exchange(places_, {});
  places_.resize(2 * before.size());
  --shift_;
  for (const Place& place : before) {
    if (place.number != 0) places_[place_of(place.number)] = place;
  }
}

}  // namespace orrery
