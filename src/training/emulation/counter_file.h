#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

namespace orrery {

// A small file of the kernel's that is read again and again: it is opened once.
class CounterFile {
 public:
  explicit CounterFile(std::string path) : path_(std::move(path)) {}

  // The first number; an error if it cannot be read.
  Result<double> number();
  // The number in the line "key number"; 0 if there is none.
  Result<double> entry(std::string_view key);

 private:
  Result<std::string_view> read();

  std::string path_;
  std::shared_ptr<Fd> fd_{};
  std::string buffer_{};
};

}  // namespace orrery
