#include "report/terminal/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/plain_text.h"
#include "report/terminal/standard_output.h"

namespace orrery {

void complain(std::string_view message) {
  std::fputs(fmt::format("orrery: {}\n", plain_lines(message)).c_str(), stderr);
}

int exit_code(const Status& status) {
  if (status.ok() || is_reader_gone(status.error())) return 0;
  complain(status.error().message);
  return status.error().code == Code::InvalidArgument ? 2 : 1;
}

std::span<char*> split_program(std::span<char*> words, std::span<const std::string> takers,
                               std::vector<std::string>& program) {
  if (words.size() < 2 || std::ranges::find(takers, words[1]) == takers.end()) return words;
  const auto mark = std::ranges::find(words, std::string_view("--"));
  if (mark == words.end()) return words;
  program.assign(mark + 1, words.end());
  return words.first(static_cast<std::size_t>(mark - words.begin()));
}

}  // namespace orrery
