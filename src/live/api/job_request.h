#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace orrery {

// A job's number for good, from 1: what users, logs and agents call it. JobId is its place in a
// scheduler's tables, which is another after a restart.
using JobNumber = std::int64_t;

// What a user asks for. Everything but argv may be left as it is.
struct JobRequest {
  std::vector<std::string> argv{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string directory = "/";
  std::string name{};    // empty: the name of the program
  std::string user{};    // empty: the caller
  std::string tenant{};  // whose quota counts; empty: the user's own

  int gpus = 1;
  int gpus_min = 0;  // elastic: any number of GPUs between these; 0: `gpus` and nothing else
  int gpus_max = 0;
  std::int64_t cpu_milli = 0;     // in all; 0: not stated
  std::int64_t memory_bytes = 0;  // in all; 0: not stated
  std::string gpu_type{};
  std::string model{};    // whose profile is taken for it; empty: none
  Duration expected{};    // how long it runs on `gpus`, 0: not known
  Duration start_cost{};  // from its start to its first iteration

  std::optional<Duration> deadline{};  // from submission on
  bool deadline_is_soft = false;
  int priority = 0;                // the higher, the earlier; below 0: only what others leave
  std::vector<JobNumber> after{};  // begins when these are Done
  int retries = 0;                 // after failures of its own
  bool process_per_gpu = false;    // else one on each node
  Duration grace = std::chrono::seconds(30);
  std::string output{};  // a file on the node, see output_pattern.h; empty: the agent's
  std::string checkpoint_directory{};  // empty: the agent's
  std::vector<int> array{};            // one job for each, given its number; empty: one job
  Duration node_timeout{};  // how long it stays with a silent node; 0: the scheduler's default
  std::string errors{};     // a file for standard error, like `output`; empty: goes with the output
  Duration time_limit{};    // of running, over all its runs; 0: none
  int signal = 0;           // sent `signal_before` ahead of the time limit; 0: none
  Duration signal_before{};
  bool private_tmp = false;  // each process has a /tmp and a /var/tmp of its own

  // What was measured of `model` by the time the job was submitted. The scheduler's to fill in, and
  // kept with the request, so that a log says all that decisions come from.
  std::optional<SpeedCurve> speeds{};
  std::optional<Sensitivity> sensitivity{};

  bool operator==(const JobRequest&) const = default;
};

inline constexpr std::size_t kRequestBytesMax = std::size_t{1} << 20;  // arguments and environment
// Linux refuses to start a program with a longer argument or variable (MAX_ARG_STRLEN).
inline constexpr std::size_t kWordBytesMax = std::size_t{1} << 17;
inline constexpr std::size_t kArrayMax = 100'000;
inline constexpr int kPriorityMax = 1000;
inline constexpr int kRetriesMax = 1000;
inline constexpr Duration kNodeTimeoutMin = std::chrono::seconds(1);
inline constexpr Duration kNodeTimeoutMax = std::chrono::hours(24 * 365 * 100);  // "never"

// A duration, or "never": the job waits for its node for as long as that takes.
Result<Duration> parse_node_timeout(std::string_view text);

// Everything that can be said about it without a cluster: bounds, and what contradicts itself. The
// message names the field.
Status check(const JobRequest& request);

// One JSON object; what is left as it is is left out.
std::string job_request_json(const JobRequest& request);
Result<JobRequest> read_job_request_json(std::string_view text);

}  // namespace orrery
