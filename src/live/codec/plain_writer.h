#pragma once

#include <bit>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "live/codec/fields.h"
#include "live/codec/plain.h"

namespace orrery {

// What is left out would have the usual value, so nothing is but what is not there.
class PlainWriter {
 public:
  explicit PlainWriter(std::string& bytes) : bytes_(bytes) {}

  template <class Value>
  void operator()(const char*, const Value& value, Range = {}) {
    ++number_;
    put(value);
  }

 private:
  enum Kind : std::uint64_t { Varint = 0, Fixed64 = 1, Sized = 2 };

  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void begin(Kind kind) { put_varint(number_ << 3 | kind); }
  void put_sized(std::string_view content) {
    begin(Sized);
    put_varint(content.size());
    bytes_ += content;
  }

  template <class Value>
  requires std::is_integral_v<Value> || std::is_enum_v<Value>
  void put(Value value) {
    begin(Varint);
    put_varint(static_cast<std::uint64_t>(value));
  }
  void put(std::chrono::nanoseconds value) { put(std::int64_t{value.count()}); }
  void put(double value) {
    begin(Fixed64);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 64; i += 8) bytes_.push_back(static_cast<char>(bits >> i));
  }
  void put(const std::string& text) { put_sized(as_utf8(text)); }
  void put(const std::map<std::string, std::string>& values) {
    for (const auto& value : values) put(std::pair<std::string, std::string>(value));
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    if (value) put(*value);
  }
  template <class Value>
  requires std::is_class_v<Value>
  void put(const Value& value) {
    std::string content;
    PlainWriter part(content);
    fields(part, value);
    put_sized(content);
  }
  template <class Value>
  void put(const std::vector<Value>& values) {
    if constexpr (std::is_integral_v<Value>) {
      if (values.empty()) return;
      std::string content;
      PlainWriter packed(content);
      for (const Value value : values) packed.put_varint(static_cast<std::uint64_t>(value));
      put_sized(content);
    } else {
      for (const Value& value : values) put(value);
    }
  }

  std::string& bytes_;
  std::uint64_t number_ = 0;
};

template <class Value>
void append_plain(const Value& value, std::string& bytes) {
  PlainWriter writer(bytes);
  fields(writer, value);
}

}  // namespace orrery
