#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orrery {

// What the agent's state files are made of: fields "key=value", each closed by a zero byte, and
// "end" as the last one, so that a file cut short is known as such. Values are any bytes but zero,
// which neither arguments nor environment can hold; `tr '\0' '\n'` shows a file. A key may repeat.
class Fields {
 public:
  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, std::int64_t value);

  // The first value of a key; empty or `otherwise` where there is none.
  std::string text(std::string_view key) const;
  std::int64_t number(std::string_view key, std::int64_t otherwise = 0) const;
  std::vector<std::string> all(std::string_view key) const;

  std::string write() const;
  static Result<Fields> read(std::string_view content);

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

Result<Fields> read_fields(const std::string& path);

}  // namespace orrery
