#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

// Values in slots that are used again, so that memory follows the values there are and not those
// there were. A slot that is opened again holds what its last value left, memory included.
template <class Value>
class SlotPool {
 public:
  std::int32_t open() {
    if (free_.empty()) {
      slots_.emplace_back();
      return static_cast<std::int32_t>(slots_.size() - 1);
    }
    const std::int32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void close(std::int32_t slot) { free_.push_back(slot); }
  Value& operator[](std::int32_t slot) { return slots_[static_cast<std::size_t>(slot)]; }
  const Value& operator[](std::int32_t slot) const {
    return slots_[static_cast<std::size_t>(slot)];
  }

 private:
  std::vector<Value> slots_;
  std::vector<std::int32_t> free_;
};

inline constexpr std::int32_t kNoSlot = -1;

// Values by dense id, of which few have one at a time: a slot number for each id there was, and a
// value for each that has one.
template <class Id, class Value>
class SparseTable {
 public:
  void reserve(std::size_t ids) { slots_.reserve(ids); }
  bool has(Id id) const { return at(id) < slots_.size() && slots_[at(id)] != kNoSlot; }
  // Of an id that has one.
  Value& operator[](Id id) { return pool_[slots_[at(id)]]; }
  const Value& operator[](Id id) const { return pool_[slots_[at(id)]]; }

  // Gives an id a value, if it has none: what the last one in its slot left.
  Value& open(Id id) {
    if (at(id) == slots_.size()) {
      slots_.push_back(kNoSlot);
    } else if (at(id) > slots_.size()) {
      slots_.resize(at(id) + 1, kNoSlot);
    }
    std::int32_t& slot = slots_[at(id)];
    if (slot == kNoSlot) slot = pool_.open();
    return pool_[slot];
  }
  void close(Id id) {
    pool_.close(slots_[at(id)]);
    slots_[at(id)] = kNoSlot;
  }

 private:
  static std::size_t at(Id id) { return static_cast<std::size_t>(id); }

  std::vector<std::int32_t> slots_;  // by id
  SlotPool<Value> pool_;
};

}  // namespace orrery
