#pragma once

#include "live/client/command_context.h"

namespace orrery {

// Waits for something to happen at the scheduler, without asking it all the time.
class News {
 public:
  // What happens from now on is news. Both outlive this.
  News(Client& client, const CommandContext& context);

  // Comes back when there is news, `most` has passed or the user interrupts; at most twenty times
  // a second. While the scheduler does not answer, it waits.
  void wait(Duration most);

 private:
  Client& client_;
  const CommandContext& context_;
  std::int64_t next_ = 0;
  bool gets_no_events_ = false;  // events cannot be had: the time is waited for instead
  Duration last_{};
};

}  // namespace orrery
