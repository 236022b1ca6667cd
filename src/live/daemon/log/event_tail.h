#pragma once

#include <deque>
#include <string>

#include "live/api/api.h"
#include "live/daemon/rights/disclosure.h"
#include "live/store/committer.h"

namespace orrery {

// One line of JSON for one record, as far as the viewer may see it: what `orrery events` shows and
// `orrery record` keeps. `era_unix_ns` is when cluster time was 0.
std::string event_line(const Record& record, std::int64_t era_unix_ns, const Viewer& viewer);
// The same back; what was left out stays out.
Result<Record> read_event_line(std::string_view line);

// The end of the log that is on disk, kept in memory for its followers. Older records are read from
// the store.
class EventTail {
 public:
  void begin(std::int64_t last_sequence, std::int64_t era_unix_ns) {
    last_ = last_sequence;
    era_unix_ns_ = era_unix_ns;
  }
  void add(Record record);

  // Answers, unless there is nothing yet and the request is willing to wait.
  bool serve(const EventsRequest& request, const Viewer& viewer, const Reply<EventsAnswer>& reply,
             Committer& committer) const;

 private:
  static constexpr std::size_t kKept = 10'000;

  std::deque<Record> records_;  // the last one is last_; a line is made on request
  std::int64_t last_ = 0;
  std::int64_t era_unix_ns_ = 0;
};

}  // namespace orrery
