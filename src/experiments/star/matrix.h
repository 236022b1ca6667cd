#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// What `reproduce star` runs: real training in every mode, under every pattern of straggling.

enum class ModeRole { Star, Fixed, Rival };

// What is trained, until when, and with what. Targets and rates were fixed by runs without
// stragglers in ssgd alone, before any mode was compared.
struct MatrixWorkload {
  std::string_view name;
  std::string_view target;                 // accuracy at which the clock stops
  std::string_view gradients;              // of a run that does not stop there, for its accuracy
  std::string_view time_limit;             // of a run that does
  std::vector<std::string_view> settings;  // of `orrery-train run`
};
std::span<const MatrixWorkload> matrix_workloads();

struct MatrixPattern {
  std::string_view name;
  std::string_view script;   // its text; empty: no worker straggles
  bool steady_loss = false;  // STAR must be at least 48 % below ssgd here
};
std::span<const MatrixPattern> matrix_patterns();

struct MatrixMode {
  std::string_view name;
  ModeRole role = ModeRole::Fixed;
  std::vector<std::string_view> settings;
};
std::span<const MatrixMode> matrix_modes(std::string_view architecture);

inline constexpr std::string_view kMatrixArchitectures[] = {"ps", "allreduce"};

// One run of the matrix.
struct MatrixRun {
  const MatrixWorkload* workload = nullptr;
  std::string_view architecture;
  const MatrixPattern* pattern = nullptr;
  const MatrixMode* mode = nullptr;
  std::uint64_t seed = 0;
  bool to_target = true;  // or to the workload's number of gradients

  std::string name() const;  // as its files are called
  // "run --arch ps ...", without the program; `folder` is the run's own.
  std::vector<std::string> command(const std::string& folder) const;
};

struct MatrixChoice {
  std::string figure{};  // tta or final; empty: both. two-jobs has its own runs (two_jobs.h)
  std::string only{};    // runs whose name holds this text; empty: all
  int seeds = 3;
};
// In an order in which a part of them is already of use: seed after seed, and within one cell after
// cell.
Result<std::vector<MatrixRun>> choose_runs(const MatrixChoice& choice);

}  // namespace orrery
