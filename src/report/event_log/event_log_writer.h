#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/job.h"
#include "report/event_log/byte_stream.h"
#include "report/event_log/logged_run.h"

namespace orrery {

// Writes events as JSON Lines, as docs/formats/events.md describes: a first line with the cluster
// and how the run was set up, then a line an event with everything that is needed to rebuild the
// state. The same events give
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
                                                      const Workload& workload,
                                                      const RunDescription& run = {});
  EventLogWriter(std::unique_ptr<ByteWriter> bytes, const Cluster& cluster,
                 const Workload& workload, const RunDescription& run = {});

  void write(const Event& event) override;

  // Writes what is still buffered. A writer that is destroyed without it leaves no log.
  Status finish();

 private:
  void append_header(const Cluster& cluster, const RunDescription& run);
  void append_spec(const JobSpec& spec);
  void append_profile(ProfileId profile);
  void append_curve(CurveId curve);
  void append_sensitivity(SensitivityId sensitivity);
  void append_name(std::string_view key, NameId name);
  void append_grant(const Event& event);
  void append_reason(const Reason& reason);
  void flush();

  std::unique_ptr<ByteWriter> bytes_;
  const Workload& workload_;
  std::vector<bool> profiles_written_;
  std::vector<bool> curves_written_;
  std::vector<bool> sensitivities_written_;
  fmt::memory_buffer buffer_;
  Status status_;
};

}  // namespace orrery
