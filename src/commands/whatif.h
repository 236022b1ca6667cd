#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiments/runs/runs.h"
#include "model/event.h"

namespace orrery {

// What became of one job in a run.
struct JobOutcome {
  std::optional<Time> started;
  std::optional<Time> ended;     // its devices are free again
  std::optional<Time> finished;  // its last iteration, by which deadlines are judged
  std::optional<Time> promised;
  std::optional<Reason> refused;
  std::optional<Reason> waits;  // why it had to wait, as last reported
};

// What one more job would mean for itself and for the others.
struct AddedJobEffect {
  JobSpec job;
  std::string model;
  JobOutcome outcome;
  // If it is refused for its deadline: one with which it is admitted, as early as runs with others
  // could find, to within a minute or a fiftieth of the time it then has. None: none was found.
  std::optional<Time> earliest;

  struct Change {
    std::string name;
    Time before{};  // its end without the new job
    Time after{};
  };
  struct Refusal {
    std::string name;
    std::string reason;
  };
  std::size_t others = 0;
  std::size_t compared = 0;           // of them, those that end in both runs
  std::vector<Change> slowed;         // by more than a second, the worst first
  std::size_t sooner = 0;             // how many end more than a second earlier
  std::vector<Refusal> refused;       // jobs that would be admitted without it
  std::vector<std::string> admitted;  // jobs that would not
  std::vector<std::string> late;      // jobs that would meet their deadline without it

  double mean_delay_s() const;  // of those slowed; 0 if none is
};

// Asks by running the world twice, without the job and with it, and for a refusal a few times more
// as far as the job. `job` holds one job, with a name that no
// other job has.
Result<AddedJobEffect> ask(const RunRequest& world, const Workload& job,
                           const RunsOptions& options);

// One job written as key=value,key=value (docs/formats/whatif.md), its deadline counted from its
// submission. What it leaves out is taken from jobs of the same model in `trace`, and from the
// speed profiles, where that can be known.
struct JobText {
  std::string text;
  std::string profiles{};
  std::string gpu_type{};
};
Result<Workload> parse_job(const JobText& job, const Workload& trace);

std::string whatif_text(const AddedJobEffect& answer, const RunRequest& world);
std::string whatif_json(const AddedJobEffect& answer, const RunRequest& world,
                        std::span<const std::string> warnings = {});

}  // namespace orrery
