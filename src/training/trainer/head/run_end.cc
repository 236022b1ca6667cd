#include "training/trainer/head/run_end.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

void RunEnd::checkpoint_saved(ParameterVersion version) {
  saved_ = std::max(saved_.value_or(version), version);
}

void RunEnd::checkpoint_failed(const Error& why) { failure_ = why.message; }

bool RunEnd::fail(const Error& why) {
  if (!failed_.ok()) return false;
  failed_ = why;
  return true;
}

bool RunEnd::overdue(Time now, Duration limit) {
  if (!asked_) asked_ = now;
  return now - *asked_ > limit;
}

Status RunEnd::outcome(ParameterVersion last) const {
  if (!failed_.ok()) return failed_;
  if (!promised_ || saved_.value_or(-1) >= last) return {};
  std::string message = fmt::format("the run ended at version {} without its checkpoint", last);
  if (!failure_.empty()) message += fmt::format(" ({})", failure_);
  message += saved_ ? fmt::format("; the newest is of version {}", *saved_)
                    : "; this session has saved none";
  return Error{Code::DataLoss, message};
}

}  // namespace orrery
