#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job_window.h"
#include "model/node_change.h"
#include "model/time.h"

namespace orrery {

// The policy that decides, and when it is asked.
struct ChosenPolicy {
  std::string name{};
  std::map<std::string, std::string> options{};
  std::uint64_t seed = 0;
  Duration round{};  // rounds are held at multiples of this only; 0: whenever something happens
  bool operator==(const ChosenPolicy&) const = default;
};

// The rules by which jobs progress and what each event costs them: ours, or those of a simulator
// that was published.
enum class SemanticsKind : std::uint8_t { Orrery, Muri, ElasticFlow, Synergy };

Result<SemanticsKind> parse_semantics(std::string_view name);
std::string_view to_string(SemanticsKind kind);

// One run, but for its jobs and its cluster: what it takes to make it again. An event log begins
// with it.
struct RunDescription {
  ChosenPolicy policy{};  // without a name: not known, and then nothing else is
  SemanticsKind semantics = SemanticsKind::Orrery;
  // Each job is really as fast as its profile says times a number from 1 - this to 1 + this, drawn
  // by the seed. No policy sees it but by the job's progress.
  double speed_error = 0;
  std::optional<JobWindow> window{};   // the run ends once these jobs have ended; empty: all jobs
  std::optional<FaultRules> faults{};  // empty: nodes do not come and go
  std::int64_t jobs = 0;               // of the whole workload, of which a log may lack the last
  bool operator==(const RunDescription&) const = default;
};

}  // namespace orrery
