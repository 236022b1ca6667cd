#include "live/agent/job_conversation.h"

namespace orrery {

Status JobConversation::take(std::string_view bytes, int& budget, std::vector<JobWord>& words) {
  while (!over_) {
    const std::size_t newline = bytes.find('\n');
    if (rest_.size() + std::min(newline, bytes.size()) > kLongestJobLine) {
      return invalid("a line is longer than " + std::to_string(kLongestJobLine) + " bytes");
    }
    if (newline == bytes.npos) {
      rest_ += bytes;
      return {};
    }
    if (budget <= 0) return Error{Code::ResourceExhausted, "too many messages"};
    --budget;
    rest_ += bytes.substr(0, newline);
    bytes.remove_prefix(newline + 1);
    const std::string line = std::exchange(rest_, {});
    TRY(take_line(line, words));
  }
  return {};
}

Status JobConversation::take_line(std::string_view line, std::vector<JobWord>& words) {
  if (line.find_first_not_of(" \t\r") == line.npos) return {};
  TRY_ASSIGN(JobWord word, read_job_line(line));
  if (word.kind == JobWord::Kind::Unknown) {
    ++ignored_;
    return {};
  }
  if ((word.kind == JobWord::Kind::Hello) == greeted_) {
    return invalid(greeted_ ? "hello comes once, at the beginning"
                            : "the first message must be hello");
  }
  if (word.kind == JobWord::Kind::Hello && word.rank != rank_) {
    return invalid("this is the socket of rank " + std::to_string(rank_) + ", not of rank " +
                   std::to_string(word.rank));
  }
  greeted_ = true;
  over_ = word.kind == JobWord::Kind::Bye;
  word.rank = rank_;
  words.push_back(std::move(word));
  return {};
}

}  // namespace orrery
