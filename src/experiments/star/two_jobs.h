#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/star/run.h"

namespace orrery {

// Two real runs on shared servers: A straggles under STAR, B trains in SSGD beside it. `With` moves
// limits between them, `Without` leaves each job its first limits; alone, a run has the
// same servers to itself.
enum class TwoJobsArm { AloneA, AloneB, Without, With };
inline constexpr std::array kTwoJobsArms = {TwoJobsArm::AloneA, TwoJobsArm::AloneB,
                                            TwoJobsArm::Without, TwoJobsArm::With};

struct TwoJobsRun {
  TwoJobsArm arm{};
  std::uint64_t seed = 1;

  std::string name() const;  // as its folder is called
  // Without the program; `folder` is the run's own.
  std::vector<std::string> servers_command(const std::string& folder) const;
  std::vector<std::string> a_command(const std::string& folder) const;
  std::vector<std::string> b_command(const std::string& folder) const;
  bool has_a() const { return arm != TwoJobsArm::AloneB; }
  bool has_b() const { return arm != TwoJobsArm::AloneA; }
};
// Seed after seed; `only` as in MatrixChoice.
std::vector<TwoJobsRun> two_jobs_runs(int seeds, const std::string& only);

struct TwoJobsResult {
  std::optional<RunResult> a{}, b{};
};
using TwoJobsResults = std::map<std::string, TwoJobsResult>;  // by TwoJobsRun::name()

// As run_matrix does.
Result<TwoJobsResults> run_two_jobs(std::span<const TwoJobsRun> runs,
                                    const RunMatrixOptions& options, const std::atomic<bool>& stop,
                                    const std::function<void()>& done);

// Of one arm over the seeds, medians. A's time is that to the target, B's that of all its
// gradients; slow-downs are against the same run alone with the same seed.
struct TwoJobsRow {
  TwoJobsArm arm{};
  int runs = 0;
  int untrusted = 0;  // not counted
  std::optional<double> a_s{}, b_s{};
  std::optional<double> a_slowdown{}, b_slowdown{}, total{};
  std::optional<double> limits_moved{};
};
struct TwoJobsVerdict {
  std::vector<TwoJobsRow> rows{};
  std::optional<bool> a_is_faster{};  // with than without; none: a run is missing
  std::optional<bool> total_no_worse{};
  std::vector<std::string> problems{};
};
TwoJobsVerdict judge_two_jobs(std::span<const TwoJobsRun> runs, const TwoJobsResults& results);

std::string two_jobs_text(const TwoJobsVerdict& verdict);
std::string two_jobs_json(const TwoJobsVerdict& verdict);

}  // namespace orrery
