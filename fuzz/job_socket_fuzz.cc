#include <cstdint>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "live/agent/job_conversation.h"

using namespace orrery;

namespace {

struct Heard {
  std::vector<JobWord> words{};
  std::string error{};
  std::int64_t ignored = 0;
};

Heard hear(std::string_view bytes, std::size_t piece) {
  JobConversation talk(0);
  Heard heard;
  int budget = 64;
  while (!bytes.empty() && heard.error.empty()) {
    const Status status = talk.take(bytes.substr(0, piece), budget, heard.words);
    if (!status.ok()) heard.error = status.error().message;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  heard.ignored = talk.ignored();
  return heard;
}

}  // namespace

// Whatever a job sends, it is heard or refused, in any pieces alike, and what is handed on is
// within its bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Heard whole = hear(bytes, size + 1);
  const Heard parts = hear(bytes, 1 + size % 7);
  INVARIANT(whole.words == parts.words && whole.ignored == parts.ignored, "heard the same");
  INVARIANT(whole.error == parts.error, "and refused the same");
  INVARIANT(whole.words.size() <= 64, "within the budget");
  for (std::size_t i = 0; i < whole.words.size(); ++i) {
    const JobWord& word = whole.words[i];
    INVARIANT((word.kind == JobWord::Kind::Hello) == (i == 0), "hello is the first, and once");
    INVARIANT(word.kind <= JobWord::Kind::Bye, "a word of a job's");
    INVARIANT(word.kind != JobWord::Kind::Bye || i + 1 == whole.words.size(), "bye is the last");
    INVARIANT(word.iteration >= 0 && word.of >= 0, "counts are counts");
  }
  if (!whole.error.empty()) {
    const std::string line = error_line(whole.error);
    INVARIANT(line.find('\n') + 1 == line.size(), "an error is one line");
  }
  return 0;
}
