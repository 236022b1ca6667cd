#pragma once

#include <optional>
#include <string>
#include <vector>

#include "training/step_trace/recorded_steps.h"
#include "training/step_trace/step_graph.h"
#include "training/step_trace/step_replay.h"

namespace orrery {

// What the slowness of one part of the job does to its steps.
struct PartSlowness {
  // Step time if this part alone is as slow as recorded, over the step time without any slowness.
  double slowdown = 1;
  // Which share of the time lost to all slowness is gained if this part alone is as fast as usual.
  // Above 1 where other parts are faster than usual. Nothing: no time is lost.
  std::optional<double> gain{};
  double step_s = 0;            // the mean step, if this part alone is as fast as usual
  std::vector<double> steps{};  // `slowdown` of each step
};

struct NamedSlowness {
  std::string name;
  PartSlowness part;
};

// What-if analysis of recorded steps. After "Understanding Stragglers in Large Model Training Using
// What-if Analysis" (OSDI'25), section 3.3: an operation without slowness takes the mean (of a
// computation) or the median (of a transfer) of its kind over all workers, stages and steps.
struct StragglerAnalysis {
  double recorded_step_s = 0;   // mean over steps
  double replayed_step_s = 0;   // without gaps between operations
  double ideal_step_s = 0;      // and without slowness
  double slowdown = 1;          // replayed over ideal
  double launch_slowdown = 1;   // recorded over replayed
  std::vector<double> steps{};  // `slowdown` of each step

  std::vector<PartSlowness> by_worker{};
  std::vector<PartSlowness> by_stage{};
  std::vector<PartSlowness> by_rank{};  // of worker w and stage s: [w * stages + s]; see options
  std::vector<NamedSlowness> by_operation{};  // slowest first

  // M_W: the gain of the slowest 3 % of the ranks. M_S: that of the last stage; nothing with one.
  std::optional<double> slowest_ranks_gain{};
  std::optional<double> last_stage_gain{};
};

struct AnalysisOptions {
  bool by_rank = false;  // takes two replays a rank
};

StragglerAnalysis analyse_stragglers(const RecordedSteps& recorded, StepReplay& replay,
                                     const AnalysisOptions& options);

// What each operation takes without slowness.
LaneValues ideal_durations(const RecordedSteps& recorded, const LaneValues& own);

// The part to look at first.
struct Culprit {
  // None: less than 3 % is lost, or no part alone explains half of it.
  enum class Kind { None, Rank, Worker, Stage };
  Kind kind = Kind::None;
  std::size_t number = 0;  // within by_rank, by_worker or by_stage
};
inline constexpr double kNoticeableSlowdown = 1.03;

// The smallest part that explains at least half of the loss. `analysis` has by_rank.
Culprit find_culprit(const RecordedSteps& recorded, const StragglerAnalysis& analysis);

}  // namespace orrery
