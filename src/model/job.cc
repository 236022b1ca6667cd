#include "model/job.h"

namespace orrery {

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::Pending:
      return "Pending";
    case JobState::Running:
      return "Running";
    case JobState::Paused:
      return "Paused";
    case JobState::Done:
      return "Done";
    case JobState::Failed:
      return "Failed";
    case JobState::Rejected:
      return "Rejected";
    case JobState::Cancelled:
      return "Cancelled";
  }
  return "?";
}

}  // namespace orrery
