#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/cluster.h"
#include "model/event.h"

namespace orrery {

// Holds the events of a run, which are written here, against those of a record of it, which are
// drawn from a source, and keeps the first place where they part. Compared is what was decided and
// what came of it: when, about which job, what was granted (CPUs and memory included) or why not,
// and when jobs ended. Sequence numbers, forecasts of speed and work left are not. Takes no more
// memory than an event.
class EventComparison final : public EventSink {
 public:
  // The next recorded event; false when there are no more. What the event points to stays valid
  // until the next call.
  using Source = std::function<Result<bool>(Event&)>;

  struct Side {
    Event event;  // without what it points to
    Grant grant;  // without devices where the event has none
  };
  struct Difference {
    std::optional<Side> recorded;  // empty: the record ends here
    std::optional<Side> made;      // empty: the run ends here
  };

  explicit EventComparison(Source record) : record_(std::move(record)) {}

  void write(const Event& event) override;

  // The run is over. Fails when the record could not be read.
  Status finish();

  std::int64_t agreed() const { return agreed_; }  // events before the difference
  const std::optional<Difference>& difference() const { return difference_; }

 private:
  Source record_;
  std::int64_t agreed_ = 0;
  std::optional<Difference> difference_;
  Status status_;
};

// What was decided, in words: "started on n0 (GPUs 0 1) with 6 CPUs and 62.5 GB".
std::string decision_text(const EventComparison::Side& side, const Cluster& cluster);

}  // namespace orrery
