#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "live/daemon/core/core.h"

namespace orrery {

// Gives what came from outside, by a log, to the same code again, and compares what it decides with
// what the log says was decided.
class Replay {
 public:
  explicit Replay(const CoreOptions& options);

  // The next record of the log. After the first difference nothing is looked at any more.
  Status next(const Record& record);
  // The log is over.
  void finish();

  std::int64_t agreed() const { return agreed_; }  // decisions before the difference
  std::int64_t rounds() const { return core_->rounds(); }
  const std::optional<std::string>& difference() const { return difference_; }
  const Core& core() const { return *core_; }

 private:
  void part(const Record* recorded, const Record* made);

  std::unique_ptr<Core> core_;
  std::deque<Record> made_;  // decisions that the log has not come to yet
  std::int64_t agreed_ = 0;
  std::int64_t sequence_ = 0;
  std::string last_;  // what came from outside last
  std::optional<std::string> difference_;
};

}  // namespace orrery
