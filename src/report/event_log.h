#pragma once

#include <fmt/format.h>

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
#include "report/byte_stream.h"

namespace orrery {

class LogLine;

// Writes events as JSON Lines, as docs/formats/events.md describes: a first line with the cluster,
// then a line an event with everything that is needed to rebuild the state. The same events give
// the same bytes.
//
// Events cannot be refused, so a full disk shows at finish(): the first failure is kept, and
// nothing is written after it.
class EventLogWriter final : public EventSink {
 public:
  // `workload` gives the names, profiles and curves that specs refer to. It may grow while the log
  // is written and outlives the writer.
  static Result<std::unique_ptr<EventLogWriter>> open(const std::string& path,
                                                      const Cluster& cluster,
                                                      const Workload& workload);
  EventLogWriter(std::unique_ptr<ByteWriter> bytes, const Cluster& cluster,
                 const Workload& workload);

  void write(const Event& event) override;

  // Writes what is still held back. A writer that is destroyed without it leaves a cut log.
  Status finish();

 private:
  void append_header(const Cluster& cluster);
  void append_spec(const JobSpec& spec);
  void append_profile(ProfileId profile);
  void append_curve(CurveId curve);
  void append_name(std::string_view key, NameId name);
  void append_grant(const Event& event);
  void append_reason(const Reason& reason);
  void flush();

  std::unique_ptr<ByteWriter> bytes_;
  const Workload& workload_;
  std::vector<bool> profiles_written_;
  std::vector<bool> curves_written_;
  fmt::memory_buffer buffer_;
  Status status_;
};

// Reads such a log back, one event at a time, in memory that does not grow with the log except by a
// byte a job and by the names and tables. What it hands out is sound: jobs are submitted once and
// before anything else, promised to be in time once at most, nothing follows their end, grants name
// GPUs that the cluster has, curves rise in GPUs and have speeds, and time does not run backwards.
// Otherwise the error says "file:line: what is wrong".
class EventLogReader {
 public:
  static Result<EventLogReader> open(const std::string& path);
  // `name` stands in messages; when it ends in .zst the bytes are unpacked. The stream outlives
  // the reader.
  static Result<EventLogReader> from(std::istream& stream, const std::string& name);

  const Cluster& cluster() const { return cluster_; }

  // The names, profiles and curves met so far, and no jobs. Names are numbered as they appear,
  // which may differ from the ids of the run that wrote the log.
  const Workload& workload() const { return workload_; }

  // False at the end of the log. The event's spec and grant stay valid until the next call.
  Result<bool> next(Event& event);

 private:
  EventLogReader(std::unique_ptr<LineReader> lines, std::string name);
  Error at_line(Error error) const;
  Status read_header();
  Status read_event(const LogLine& line, Event& event);
  Status read_spec(const LogLine& line, const Event& event);
  Status read_deadline(const LogLine& spec);
  Status read_profile(const LogLine& spec);
  Status read_curve(const LogLine& spec);
  Status read_name(const LogLine& spec, const char* key, NameId& id);
  Status read_grant(const LogLine& line, Event& event);
  Status read_devices(const LogLine& grant);
  Status read_reason(const LogLine& line, Reason& reason) const;
  Status follow(const Event& event);

  enum class Stage : std::uint8_t { Unknown, Waiting, Running, Ended };
  struct Life {
    Stage stage : 2 = Stage::Unknown;
    bool admitted : 1 = false;
  };

  std::unique_ptr<LineReader> lines_;
  std::string name_;
  std::size_t line_number_ = 0;
  std::string text_;
  Cluster cluster_;
  Workload workload_;
  std::unordered_map<std::string, NameId> name_ids_;
  std::vector<Life> lives_;
  std::optional<Time> last_time_;
  JobSpec spec_;
  Grant grant_;
};

}  // namespace orrery
