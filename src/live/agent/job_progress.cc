#include "live/agent/job_progress.h"

#include "live/api/agent_words.h"

namespace orrery {

JobProgress progress_of(const JobWord& word) {
  const auto iteration = static_cast<double>(word.iteration);
  switch (word.kind) {
    case JobWord::Kind::Progress:
      return {.iteration = iteration,
              .iterations = word.of > 0 ? static_cast<double>(word.of) : -1};
    case JobWord::Kind::Checkpointed:
      return {.checkpointed = iteration};
    case JobWord::Kind::CanStopAt:
      return {.can_stop_at = iteration};
    case JobWord::Kind::Bye:
      return {.finished = word.finished};
    case JobWord::Kind::Silenced:
      return {.can_stop_at = kCannotStop};
    case JobWord::Kind::Hello:
    case JobWord::Kind::Unknown:
    case JobWord::Kind::Gone:
      return {};
  }
  return {};
}

}  // namespace orrery
