#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/policy/host/host_allocator.h"

namespace orrery {

// One of the amounts a job can be given, for all its GPUs, and its speed with it.
struct HostCell {
  HostShare share;
  double speed = 1;
};

inline HostShare lesser(const HostShare& a, const HostShare& b) {
  return {std::min(a.cpu_milli, b.cpu_milli), std::min(a.memory_bytes, b.memory_bytes)};
}
inline HostShare& operator+=(HostShare& sum, const HostShare& one) {
  sum.cpu_milli += one.cpu_milli;
  sum.memory_bytes += one.memory_bytes;
  return sum;
}
inline HostShare& operator-=(HostShare& sum, const HostShare& one) {
  sum.cpu_milli -= one.cpu_milli;
  sum.memory_bytes -= one.memory_bytes;
  return sum;
}
inline HostShare times(const HostShare& one, std::int64_t count) {
  return {one.cpu_milli * count, one.memory_bytes * count};
}

// The points of a job's sensitivity and its fair share, none above `most` or slower than `slowest`;
// the fastest first, and none that needs no less than a faster one. For a job whose speed does not
// depend on them: what it asks for.
std::vector<HostCell> cells_of(const HostAllocator::Asker& asker, const HostShare& most,
                               double slowest);

// Of cells, the one that needs least among those within the fair share.
int minimum_cell(std::span<const HostCell> cells, const HostShare& fair);

// Jobs that are the same to an allocator of CPUs and memory.
struct HostKind {
  const Sensitivity* sensitivity = nullptr;
  HostShare fair;
  double fair_speed = 1;
  int gpus = 0;
  std::vector<HostCell> cells;
  int minimum = 0;  // what its jobs can do with

  bool holds(const HostAllocator::Asker& asker) const {
    return asker.sensitivity == sensitivity && asker.gpus.gpus == gpus && asker.need->fair == fair;
  }
};

// What there is to give: in all, and on one server.
struct HostCapacity {
  HostShare total;
  HostShare largest;
  int gpus_largest = 0;
};
HostCapacity capacity_in(const Ledger& ledger);

// The kinds seen so far. Cells are no slower than the fair share. A job that fits one server has no
// cell that does not; one that does not fit has no more than its fair share.
class HostKinds {
 public:
  void begin(const HostCapacity& capacity);

  int find(const HostAllocator::Asker& asker);
  const HostKind& operator[](int kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  std::span<const HostKind> all() const { return kinds_; }

 private:
  HostCapacity capacity_;
  std::vector<HostKind> kinds_;
};

}  // namespace orrery
