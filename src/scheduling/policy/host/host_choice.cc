#include "scheduling/policy/host/host_choice.h"

#include <algorithm>
#include <cmath>

#include "algorithms/integer_program/integer_program.h"

namespace orrery {
namespace {

constexpr double kUnbounded = 1e30;  // to the solver

double cores(std::int64_t milli) { return static_cast<double>(milli) / 1e3; }
double gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

// A column for each cell of each kind: how many of its jobs have it. They are interchangeable, so
// that the program does not grow with their number.
IntegerProgram program_of(std::span<const HostKind> kinds, std::span<const int> jobs,
                          const HostShare& capacity, HostWeight weight) {
  IntegerProgram program;
  const int cpus = program.add_row(0, cores(capacity.cpu_milli));
  const int memory = program.add_row(0, gigabytes(capacity.memory_bytes));
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (jobs[k] == 0) continue;
    const int all = program.add_row(jobs[k], jobs[k]);
    // Where slower cells are left in, they count in a mixture that is fast enough.
    const bool mixes = kinds[k].cells.back().speed < kinds[k].fair_speed;
    const double enough = mixes ? jobs[k] * kinds[k].fair_speed * (1 - 1e-9) : 0;
    const int fair = mixes ? program.add_row(enough, kUnbounded) : 0;
    const double worth = weight == HostWeight::Gpus ? kinds[k].gpus : 1;
    for (const HostCell& cell : kinds[k].cells) {
      const int column = program.add_column(worth * cell.speed, jobs[k]);
      program.set(cpus, column, cores(cell.share.cpu_milli));
      program.set(memory, column, gigabytes(cell.share.memory_bytes));
      program.set(all, column, 1);
      if (mixes) program.set(fair, column, cell.speed);
    }
  }
  return program;
}

template <class Number, class Read>
CellCounts counts_from(std::span<const HostKind> kinds, std::span<const int> jobs,
                       const std::vector<Number>& solution, Read read) {
  CellCounts counts;
  std::size_t column = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::vector<int>& of_kind = counts.emplace_back(kinds[k].cells.size(), 0);
    if (jobs[k] == 0) continue;
    for (int& count : of_kind) count = read(solution[column++]);
  }
  return counts;
}

// A job that has no cell yet has the minimum one.
void complete(std::span<const HostKind> kinds, std::span<const int> jobs, CellCounts& counts) {
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    int left = jobs[k];
    for (const int count : counts[k]) left -= count;
    counts[k][static_cast<std::size_t>(kinds[k].minimum)] += left;
  }
}

// In whole numbers: the solver's are exact to some digits only.
bool fit(std::span<const HostKind> kinds, const CellCounts& counts, const HostShare& capacity) {
  HostShare sum;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (std::size_t cell = 0; cell < counts[k].size(); ++cell) {
      sum += times(kinds[k].cells[cell].share, counts[k][cell]);
    }
  }
  return within(sum, capacity);
}

}  // namespace

std::optional<CellCounts> choose_cells(std::span<const HostKind> kinds, std::span<const int> jobs,
                                       const HostShare& capacity, HostWeight weight,
                                       int nodes_max) {
  CellCounts fastest;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    fastest.emplace_back(kinds[k].cells.size(), 0).front() = jobs[k];
  }
  if (fit(kinds, fastest, capacity)) return fastest;
  const IntegerProgram program = program_of(kinds, jobs, capacity, weight);
  if (const auto best = program.maximise(nodes_max)) {
    CellCounts counts = counts_from(kinds, jobs, *best, [](int count) { return count; });
    if (fit(kinds, counts, capacity)) return counts;
  }
  if (const auto relaxed = program.relax()) {
    CellCounts counts = counts_from(kinds, jobs, *relaxed, [](double count) {
      return static_cast<int>(std::floor(count + 1e-6));
    });
    complete(kinds, jobs, counts);
    if (fit(kinds, counts, capacity)) return counts;
  }
  CellCounts minimum;
  for (const HostKind& kind : kinds) minimum.emplace_back(kind.cells.size(), 0);
  complete(kinds, jobs, minimum);
  if (fit(kinds, minimum, capacity)) return minimum;
  return std::nullopt;
}

HostBound host_bound(std::span<const HostAllocator::Asker> askers, const HostCapacity& capacity) {
  std::vector<HostKind> kinds;
  std::vector<int> jobs;
  for (const HostAllocator::Asker& asker : askers) {
    const auto known =
        std::ranges::find_if(kinds, [&](const HostKind& kind) { return kind.holds(asker); });
    if (known != kinds.end()) {
      ++jobs[static_cast<std::size_t>(known - kinds.begin())];
      continue;
    }
    const bool spans = asker.gpus.gpus > capacity.gpus_largest;
    kinds.push_back({.sensitivity = asker.sensitivity,
                     .fair = asker.need->fair,
                     .fair_speed = asker.need->fair_speed,
                     .gpus = asker.gpus.gpus,
                     .cells = cells_of(asker, spans ? capacity.total : capacity.largest, 0),
                     .minimum = 0});
    jobs.push_back(1);
  }
  const auto greatest = [&](HostWeight weight) {
    const auto solution = program_of(kinds, jobs, capacity.total, weight).relax();
    if (!solution) return 0.0;
    double sum = 0;
    std::size_t column = 0;
    for (const HostKind& kind : kinds) {
      for (const HostCell& cell : kind.cells) {
        sum += (weight == HostWeight::Gpus ? kind.gpus : 1) * cell.speed * (*solution)[column++];
      }
    }
    return sum;
  };
  return {greatest(HostWeight::None), greatest(HostWeight::Gpus)};
}

}  // namespace orrery
