#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/star/results.h"

namespace orrery {

// The runs of one mode in one cell: time to the target over the seeds.
struct ModeTimes {
  const MatrixMode* mode = nullptr;
  int runs = 0;
  int missed = 0;     // ended without reaching the target
  int untrusted = 0;  // not counted in the times
  std::vector<std::string> problems{};
  std::vector<double> times_s{};  // ascending; missed ones are not in it
  // The middle one with missed ones counted as longest; none: the middle one is missed, or there
  // are no runs.
  std::optional<double> median_s{};
  std::optional<double> accuracy{};    // median, of runs to the end
  std::optional<double> task_cpu_s{};  // median
};

// One thing that is asked of a cell.
struct CellClaim {
  std::string what{};
  std::optional<bool> holds{};  // none: a run is missing
  std::string figures{};
};

struct CellVerdict {
  const MatrixWorkload* workload = nullptr;
  std::string_view architecture;
  const MatrixPattern* pattern = nullptr;
  std::vector<ModeTimes> modes{};
  bool lowest = false;  // no mode is below STAR's
  std::vector<CellClaim> claims{};
};

// A fold over results: what was measured in each cell, and whether what is asked for holds there.
std::vector<CellVerdict> judge_matrix(std::span<const MatrixRun> runs, const RunResults& results);

std::string matrix_text(std::span<const CellVerdict> cells);
std::string matrix_json(std::span<const CellVerdict> cells);
// A page with accuracy over time, a picture for each cell.
std::string matrix_page(std::span<const CellVerdict> cells, std::span<const MatrixRun> runs,
                        const RunResults& results);

}  // namespace orrery
