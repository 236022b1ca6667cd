#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "live/api/agent_words.h"

namespace orrery {

// Which orders count, and which report they answer.
//
// Reports are numbered from the nanosecond at which this object was made, so numbers rise over
// restarts of the agent too, and an answer to a report of an earlier agent is known as such.
class OrderGate {
 public:
  // `term` and `log` are those of the last orders an earlier agent obeyed.
  OrderGate(std::string instance, std::int64_t term, std::string log, Duration now)
      : instance_(std::move(instance)),
        term_(term),
        log_(std::move(log)),
        first_(now.count()),
        last_(now.count()) {}

  // The number of a report that is sent now.
  std::int64_t number_report(Duration now);

  // True if these are for this instance, answer a report of this object, and are newer than all
  // that were taken: of no older term, of no older session of that term, with a higher number.
  bool lets_in(const Orders& orders) const;
  // True if they are for this instance and in answer to a report of it, but of another log.
  bool is_foreign(const Orders& orders) const;
  // True if the scheduler that sent them is an older one of the log: they answer a newer report
  // than any orders that were taken, and are of an earlier term.
  bool is_outdated(const Orders& orders) const;
  // Orders of that log count from now on.
  void follow(const std::string& log);
  // True if they say, in answer to a report that is not too old, that this agent may not join. A
  // scheduler that says so has no node to count orders for, and perhaps another version.
  bool refuses(const Orders& orders) const;
  // From now on only newer ones count.
  void take(const Orders& orders);

  // When a report was sent; nothing where that is too long ago to matter.
  std::optional<Duration> sent(std::int64_t report) const;

  const std::string& log() const { return log_; }
  std::int64_t term() const { return term_; }
  std::int64_t session() const { return session_; }
  std::int64_t number() const { return number_; }

 private:
  bool is_answer(const Orders& orders) const;

  std::string instance_;
  std::int64_t term_;
  std::string log_;
  std::int64_t answered_ = 0;  // the report that the last orders answered
  std::int64_t session_ = 0;
  std::int64_t number_ = 0;  // 0: none was taken
  std::int64_t first_;       // reports have numbers beyond it
  std::int64_t last_;
  std::map<std::int64_t, Duration> sent_{};  // from the last answered one on
};

}  // namespace orrery
