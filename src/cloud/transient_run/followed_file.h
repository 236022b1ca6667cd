#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

// A text file that another process adds lines to. Half a line waits for its end.
class FollowedFile {
 public:
  explicit FollowedFile(std::string path) : path_(std::move(path)) {}

  // The whole lines since the last call, without their ends; none while there is no file.
  std::vector<std::string> new_lines();

 private:
  std::string path_;
  std::size_t read_ = 0;  // bytes
};

}  // namespace orrery
