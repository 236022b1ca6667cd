#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/api/job_request.h"
#include "model/job_state.h"

// What clients can ask about jobs.

namespace orrery {

struct SubmitRequest {
  JobRequest job{};
  std::string key{};  // the same key again is the same submission; empty: none
  bool operator==(const SubmitRequest&) const = default;
};
struct SubmitAnswer {
  JobNumber first = 0;
  std::int64_t count = 0;
  std::vector<std::string> warnings{};  // why the job may not run as its owner expects
  bool operator==(const SubmitAnswer&) const = default;
};

struct JobStatus {
  JobNumber id = 0;
  std::string name{};
  std::string user{};
  std::string tenant{};
  JobState state = JobState::Pending;
  std::string reason{};  // why it waits, or how it ended
  std::string end{};     // a word: exited, signalled, out of memory, lost node, ...
  int gpus = 0;          // held, or asked for
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  int priority = 0;
  std::vector<std::string> nodes{};
  std::string command{};  // arguments with blanks between
  // Seconds since 1970.
  double submitted_s = 0;
  std::optional<double> started_s{};
  std::optional<double> ended_s{};
  std::optional<double> deadline_s{};
  std::optional<double> predicted_start_s{};
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::optional<double> progress{};  // 0 to 1, if the job reports it
  std::int64_t epoch = 0;            // how often it was given devices
  int failures = 0;
  bool stopping = false;               // its state has changed already, its processes not yet
  std::optional<double> promised_s{};  // when the policy promised that it would be done
  bool deadline_missed = false;        // it is not done in time, or was not
  bool promise_missed = false;
  std::optional<double> time_limit_s{};
  std::optional<double> ran_s{};   // in all its runs, without the time between them
  std::string gpu_type{};          // that it asks for; empty: any
  bool waits_for_devices = false;  // it would start if more nodes were there
  bool operator==(const JobStatus&) const = default;
};

struct StatusRequest {
  std::vector<JobNumber> ids{};  // none: all of those below
  bool finished = true;          // those that have ended, too
  std::string user{};            // empty: of any user
  std::int64_t limit = 100'000;  // the newest
  bool predict = false;          // when those that wait will start
  bool operator==(const StatusRequest&) const = default;
};
struct StatusAnswer {
  double now_s = 0;
  std::string policy{};
  std::vector<JobStatus> jobs{};  // by id
  std::int64_t pending = 0;       // of all jobs, not only those listed
  std::int64_t running = 0;
  std::int64_t settling = 0;  // ended or paused, with processes that have not gone yet
  bool operator==(const StatusAnswer&) const = default;
};

struct CancelRequest {
  std::vector<JobNumber> ids{};
  bool operator==(const CancelRequest&) const = default;
};
struct CancelAnswer {
  std::vector<JobNumber> cancelled{};  // the others had ended already
  bool operator==(const CancelAnswer&) const = default;
};

struct LogsRequest {
  JobNumber id = 0;
  int rank = 0;
  std::int64_t offset = 0;  // negative: that far from the end
  std::int64_t most = 65536;
  Duration wait{};      // at most, for something new
  bool errors = false;  // standard error, of a job that keeps it apart
  std::string node{};   // that of the answer before; empty: the one it runs or last ran on
  bool operator==(const LogsRequest&) const = default;
};
struct LogsAnswer {
  std::string bytes{};
  std::int64_t next = 0;
  bool ended = false;
  std::string node{};  // where to go on
  bool operator==(const LogsAnswer&) const = default;
};

}  // namespace orrery
