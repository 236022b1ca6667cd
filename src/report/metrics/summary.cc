#include "report/metrics/summary.h"

namespace orrery {

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::Complete:
      return "complete";
    case RunStatus::Interrupted:
      return "interrupted";
    case RunStatus::NotRun:
      return "not run";
  }
  return "";
}

}  // namespace orrery
