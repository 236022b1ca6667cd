#include "cloud/transient_run/followed_file.h"

#include "base/files.h"

namespace orrery {

std::vector<std::string> FollowedFile::new_lines() {
  std::vector<std::string> lines;
  const auto text = read_file(path_);
  if (!text.ok()) return lines;
  for (auto end = text.value().find('\n', read_); end != std::string::npos;
       end = text.value().find('\n', read_)) {
    lines.push_back(text.value().substr(read_, end - read_));
    read_ = end + 1;
  }
  return lines;
}

}  // namespace orrery
