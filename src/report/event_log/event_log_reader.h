#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/job.h"
#include "report/event_log/byte_stream.h"
#include "report/event_log/logged_run.h"

namespace orrery {

class LogLine;

// Reads back what EventLogWriter wrote, one event at a time, in memory that does not grow with the
// log except by a byte a job and by the names and tables. What it hands out is sound: jobs are
// submitted once and before anything else, promised to be in time once at most, nothing follows
// their end, grants name GPUs that the cluster has, curves rise in GPUs and have speeds, tables of
// sensitivity are full, and time does not run backwards. Otherwise the error says "file:line: what
// is wrong".
class EventLogReader {
 public:
  static Result<EventLogReader> open(const std::string& path);
  // `name` stands in messages; when it ends in .zst the bytes are unpacked. The stream outlives
  // the reader.
  static Result<EventLogReader> from(std::istream& stream, const std::string& name);

  const Cluster& cluster() const { return cluster_; }
  // How the run was set up; without a policy where the log does not say.
  const RunDescription& run() const { return run_; }

  // The names, profiles, curves and sensitivities met so far, and no jobs. Names are numbered as
  // they appear, which may differ from the ids of the run that wrote the log.
  const Workload& workload() const { return workload_; }

  // False at the end of the log. The event's spec and grant stay valid until the next call.
  Result<bool> next(Event& event);

 private:
  EventLogReader(std::unique_ptr<LogLines> lines, std::string name);
  Error at_line(Error error) const;
  Status read_header();
  Status read_event(const LogLine& line, Event& event);
  Status read_spec(const LogLine& line, const Event& event);
  Status read_deadline(const LogLine& spec);
  Status read_profile(const LogLine& spec);
  Status read_curve(const LogLine& spec);
  Status read_sensitivity(const LogLine& spec);
  Status read_name(const LogLine& spec, const char* key, NameId& id);
  Status read_grant(const LogLine& line, Event& event);
  Status read_devices(const LogLine& grant);
  Status read_reason(const LogLine& line, Reason& reason) const;
  Status follow(const Event& event);
  Status follow_node(const Event& event);

  enum class Stage : std::uint8_t { Unknown, Waiting, Running, Ended };
  struct Life {
    Stage stage : 2 = Stage::Unknown;
    bool admitted : 1 = false;
  };

  std::unique_ptr<LogLines> lines_;
  std::string name_;
  std::size_t line_number_ = 0;
  std::string text_;
  Cluster cluster_;
  RunDescription run_;
  Workload workload_;
  std::unordered_map<std::string, NameId> name_ids_;
  std::vector<Life> lives_;
  std::vector<bool> nodes_lost_;  // may be shorter
  std::optional<Time> last_time_;
  JobSpec spec_;
  Grant grant_;
};

// True if the file begins as an event log does.
bool is_event_log(const std::string& path);

}  // namespace orrery
