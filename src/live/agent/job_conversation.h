#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "live/agent/job_message.h"

namespace orrery {

// One connection of a job, read from its bytes: cut into lines, parsed, and checked against the
// order of messages. No socket and no clock, so it can be fed anything. Holds at most one
// line that is not complete.
class JobConversation {
 public:
  explicit JobConversation(int rank) : rank_(rank) {}

  // Appends what was said. Each line, an empty one too, costs one of `budget`; a line with none
  // left is Code::ResourceExhausted. After an Error the connection is to be closed with its
  // message. What was said before it counts. How the bytes are cut into pieces changes nothing.
  Status take(std::string_view bytes, int& budget, std::vector<JobWord>& words);

  bool greeted() const { return greeted_; }
  bool over() const { return over_; }                // said bye; nothing after it is heard
  std::int64_t ignored() const { return ignored_; }  // lines of a kind that is not known

 private:
  Status take_line(std::string_view line, std::vector<JobWord>& words);

  int rank_;
  std::string rest_{};
  bool greeted_ = false;
  bool over_ = false;
  std::int64_t ignored_ = 0;
};

}  // namespace orrery
