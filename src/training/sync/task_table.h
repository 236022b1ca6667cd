#pragma once

#include <cstdint>
#include <vector>

#include "model/time.h"
#include "training/sync/task.h"

namespace orrery {

// A task that has not ended: it is being computed, or its gradient is held, or is on its way around
// the ring.
struct OpenTask {
  enum class State : std::uint8_t { Computing, Held, Flying };

  Task task{};
  int seat = 0;
  State state = State::Computing;
  bool cut = false;
  bool in_tree = false;  // may be merged with others', so it cannot be cut
  int parent = -1;       // the seat it may be merged at
  Time started{};
  std::int64_t merged_into = 0;  // the task it was handed in with; 0: none

  // Of the gradient, once it is held.
  Time handed_in{};
  int lies_at = 0;  // all-reduce: the seat whose memory it is in
  std::int32_t samples = 0;
  double loss = 0;
  double norm2 = 0;
  Usage usage{};
  std::vector<std::int64_t> merged{};
};

// Open tasks by number, found without allocation: many come and go, few are open. What find() gives
// back stays where it is until the next add().
class TaskTable {
 public:
  TaskTable() { places_.resize(16); }

  OpenTask& add(std::int64_t number);         // is not there yet; > 0
  OpenTask* find(std::int64_t number);        // nullptr: is not open
  void remove(std::int64_t number);           // is there
  std::vector<std::int64_t> numbers() const;  // ascending
  std::size_t size() const { return count_; }

 private:
  struct Place {
    std::int64_t number = 0;  // 0: free
    std::uint32_t slot = 0;
  };
  // Multiplying by the golden ratio spreads neighbouring numbers evenly, so no long runs of full
  // places come about, which removal would have to walk along.
  std::size_t home(std::int64_t number) const {
    return (static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15u) >> shift_;
  }
  std::size_t place_of(std::int64_t number) const;  // where it is, or the free place it would take
  void widen();

  std::vector<Place> places_{};  // open addressing; a power of two, at most half full
  std::vector<OpenTask> slots_{};
  std::vector<std::uint32_t> free_{};
  std::size_t count_ = 0;
  int shift_ = 60;  // 64 less the bits of a place
};

}  // namespace orrery
