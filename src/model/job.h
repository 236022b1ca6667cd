#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "model/job_state.h"
#include "model/sensitivity.h"
#include "model/time.h"

namespace orrery {

// The stages one iteration goes through, in order, each busy with one resource for some seconds.
// A stage may span several of the slots in which interleaved jobs alternate: Muri's traces give
// data loading as one number that keeps storage and CPU busy, hence two slots.
struct StageProfile {
  std::vector<double> stage_s;
  std::vector<int> slots;  // as long as stage_s; the sum is the number of resources

  bool operator==(const StageProfile&) const = default;
};

// How fast a job is on how many GPUs, at one global batch: what makes it elastic. Only counts it
// can run on are listed, rising; they are the counts a policy may give it.
struct SpeedCurve {
  struct Point {
    int gpus = 0;
    double iterations_per_s = 0;

    bool operator==(const Point&) const = default;
  };
  std::vector<Point> points{};
  // Speeds of placements that were measured apart: the same GPUs spread over several nodes.
  struct Spread {
    int gpus = 0;
    int nodes = 0;
    double iterations_per_s = 0;

    bool operator==(const Spread&) const = default;
  };
  std::vector<Spread> spreads{};  // by (gpus, nodes)
  // The largest count the table has a figure for, one that says the job cannot run there included;
  // never below the last point. Only what the published simulators do depends on it.
  int widest = 0;

  bool operator==(const SpeedCurve&) const = default;
};

// What being late means.
enum class DeadlineKind : std::uint8_t {
  Hard,  // promised or refused; late is worth nothing
  Soft,  // late is worth less than in time, but more than never
};

// A job as it was submitted; never changed afterwards. Work is counted in iterations.
// The order of the fields leaves few gaps: a trace has millions of these.
struct JobSpec {
  JobId id{};
  int batch_size = 0;
  std::string name;  // the id used in the trace or by the user
  Time submitted{};
  int gpus = 1;
  ProfileId profile = kNoProfile;
  std::int64_t cpu_milli = 0;         // in all; 0: not stated, never binding
  std::int64_t memory_bytes = 0;      // host memory in all; 0: not stated
  std::int64_t gpu_memory_bytes = 0;  // on each GPU; 0: not stated
  double iterations = 1;
  double iteration_s = 0;      // one iteration alone on the GPUs asked for
  Duration start_cost{};       // from the command to start until the first iteration
  Duration checkpoint_cost{};  // of one save of its work; 0: not stated
  NameId model = kNoName;
  NameId user = kNoName;
  NameId gpu_type = kNoName;
  SensitivityId sensitivity = kNoSensitivity;  // none: CPUs and memory do not change its speed
  // True if it runs so long that the life of its nodes matters to its placement.
  bool lasting = false;
  int priority = 0;              // 0: guaranteed; 1: opportunistic, takes what others leave
  std::optional<Time> deadline;  // none: best effort
  DeadlineKind deadline_kind = DeadlineKind::Hard;
  CurveId curve = kNoCurve;   // none: rigid, runs on `gpus` and nothing else
  double deadline_value = 1;  // what meeting it is worth, among soft deadlines

  double duration_s() const { return iterations * iteration_s; }
};

// Something a record of the world had that a trace should not: how often, and where first.
struct Oddity {
  std::string what;  // follows "a job that": "never ran", "asks for part of a GPU; given one"
  std::int64_t count = 0;
  std::int64_t first_line = 0;  // of the file, from 1
  bool left_out = false;        // the jobs are not in the workload

  bool operator==(const Oddity&) const = default;
};

// All jobs of a run, in order of submission, with the tables they refer to. Jobs may be added while
// it runs, each with what it refers to, just before it is submitted; none is ever removed.
struct Workload {
  std::string name;
  std::string format;        // of the trace it was read from; empty: from none
  std::deque<JobSpec> jobs;  // stay where they are when more are added
  std::vector<StageProfile> profiles;
  std::vector<SpeedCurve> curves;
  std::vector<Sensitivity> sensitivities;
  std::vector<std::string> names;
  std::vector<Oddity> oddities;  // in the order in which they were first met

  std::string_view name_of(NameId id) const {
    return id == kNoName ? std::string_view() : std::string_view(names[index(id)]);
  }
};

}  // namespace orrery
