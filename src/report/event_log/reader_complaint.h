#pragma once

#include <sstream>
#include <string>

#include "report/event_log/event_log_reader.h"

namespace orrery {

// For tests: what the reader says about these lines below a header with one node of 8 GPUs; empty:
// nothing.
inline std::string complaint(const std::string& lines) {
  std::istringstream stream("{\"orrery_events\":1,\"cluster\":{\"nodes\":[{\"gpus\":8}]}}\n" +
                            lines);
  auto opened = EventLogReader::from(stream, "log");
  if (!opened.ok()) return opened.error().message;
  EventLogReader reader = std::move(opened).value();
  Event event;
  auto more = reader.next(event);
  while (more.ok() && more.value()) more = reader.next(event);
  return more.ok() ? "" : more.error().message;
}

}  // namespace orrery
