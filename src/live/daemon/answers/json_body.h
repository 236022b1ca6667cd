#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/json_text.h"

namespace orrery {

// Writes one JSON object; fields with their usual value are left out.
class JsonBody {
 public:
  JsonBody() { append(out_, "{"); }

  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    begin(key);
    append_string(out_, value);
  }
  void number(std::string_view key, std::int64_t value, std::int64_t usual = 0) {
    if (value == usual) return;
    begin(key);
    append_number(out_, value);
  }
  void real(std::string_view key, double value, double usual = 0) {
    if (value == usual) return;
    begin(key);
    append_number(out_, value);
  }
  void json(std::string_view key, std::string_view value) {
    begin(key);
    append(out_, value);
  }
  std::string finish() {
    append(out_, "}");
    return fmt::to_string(out_);
  }
  fmt::memory_buffer& begin(std::string_view key) {
    if (!first_) append(out_, ",");
    first_ = false;
    append_string(out_, key);
    append(out_, ":");
    return out_;
  }

 private:
  fmt::memory_buffer out_;
  bool first_ = true;
};

}  // namespace orrery
