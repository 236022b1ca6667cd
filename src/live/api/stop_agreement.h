#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/time.h"

namespace orrery {

struct StopPatience {
  Duration answers = std::chrono::seconds(10);  // from the question to the last rank's answer
  Duration leaving = std::chrono::seconds(60);  // from the agreement to the last rank's end
};

// Two phases in which the ranks of a job agree on the iteration after which all of them stop, so
// that none is left waiting for another in a collective operation.
//
// Every rank has been asked (prepare_stop) and answers with the earliest iteration after which it
// can stop; until it hears more it does not go beyond that one. The largest answer is the
// agreement: no rank is past it. A rank that cannot be asked, does not answer in time, or turns out
// to be past the agreement, breaks it, and the job is to be ended by a signal.
//
// After Blox (EuroSys '24), whose first rank chooses for all: here no rank has to be in front of
// the others. No clock and no sockets; the same calls give the same answers.
class StopAgreement {
 public:
  StopAgreement(int ranks, Time asked, StopPatience patience = {});

  // Ranks that are none of the job's are not heard. A rank that answers again, as after a lost
  // connection, can only move its answer up.
  void answer(int rank, std::int64_t iteration);
  // Has no socket, or was closed out; without it there is no agreement.
  void cannot_answer(int rank);
  // Its process has ended; the agreement no longer waits for it.
  void left(int rank);

  enum class State { Asking, Agreed, Terminate, Over };
  // What is to be done now: wait, send stop_at(iteration()) to all, send SIGTERM to all, nothing
  // as all have left. Never goes back; from Agreed on the iteration stays.
  State look(Time now);

  std::int64_t iteration() const { return iteration_; }  // 0 unless agreed
  // When to look again even if nothing is heard; kNever once nothing can run out.
  Time deadline() const;
  // The ranks that the agreement waits for or has failed for: no answer, past the agreement, or
  // still there after it. Ascending.
  std::vector<int> missing() const;

 private:
  struct Rank {
    std::optional<std::int64_t> answer{};
    bool unable = false;
    bool left = false;
  };
  bool kept_by(const Rank& rank) const;
  bool any_unable() const;
  bool all_left() const;
  bool all_answered() const;

  std::vector<Rank> ranks_;
  Time asked_;
  Time agreed_ = kNever;
  StopPatience patience_;
  State state_ = State::Asking;
  std::int64_t iteration_ = 0;
};

}  // namespace orrery
