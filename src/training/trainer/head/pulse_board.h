#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "training/trainer/transport/connection.h"
#include "training/trainer/transport/messages.h"

namespace orrery {

// Which parts of a run have gone silent: stopped, or out of reach. Only a part that has sent a
// heartbeat before is judged.
class PulseBoard {
 public:
  using Clock = std::chrono::steady_clock;
  using Key = std::pair<PartRole, std::int32_t>;
  struct Silence {
    PartRole role{};
    std::int32_t id = -1;
    double silent_s = 0;
    bool first = false;  // it was not reported as silent before
    bool over = false;   // it was silent, and answers again; `silent_s` says for how long
  };

  // `warn_s`: the silence from which on a part is reported.
  explicit PulseBoard(double warn_s) : warn_s_(warn_s) {}
  ~PulseBoard();

  // Takes over a connection that brings heartbeats.
  void listen(const std::shared_ptr<Connection>& line);
  void heard(PartRole role, std::int32_t id, Clock::time_point now);
  void forget(PartRole role, std::int32_t id);
  void forget_all();

  // Called once a second. A call that comes late counts as one on time: this process itself had to
  // wait, and may not have read the heartbeats that lie there.
  std::vector<Silence> look(Clock::time_point now);

 private:
  struct Heard {
    Clock::time_point last{};
    double reported_s = 0;  // above 0: it was reported as silent
  };

  const double warn_s_;
  std::map<Key, Heard> heard_{};
  std::set<std::shared_ptr<Connection>> lines_{};
  Clock::time_point looked_{};
};

}  // namespace orrery
