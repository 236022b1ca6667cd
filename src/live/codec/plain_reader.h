#pragma once

#include <bit>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/codec/fields.h"
#include "live/codec/plain.h"

namespace orrery {

class PlainReader {
 public:
  explicit PlainReader(std::string_view bytes) { good_ = split(bytes); }

  template <class Value>
  void operator()(const char*, Value& value, Range = {}) {
    ++number_;
    for (const Item& item : items_) {
      if (item.number == number_) take(item, value);
    }
  }
  bool good() const { return good_; }

 private:
  struct Item {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  // of a field that is a number
    std::string_view content{};
    bool sized = false;
  };

  static bool read_varint(std::string_view& bytes, std::uint64_t& value);
  bool split(std::string_view bytes);

  template <class Value>
  requires std::is_integral_v<Value> || std::is_enum_v<Value>
  void take(const Item& item, Value& value) { value = static_cast<Value>(item.value); }
  void take(const Item& item, std::chrono::nanoseconds& value) {
    value = std::chrono::nanoseconds(static_cast<std::int64_t>(item.value));
  }
  void take(const Item& item, double& value) { value = std::bit_cast<double>(item.value); }
  void take(const Item& item, std::string& value) { value = item.content; }
  void take(const Item& item, std::map<std::string, std::string>& values) {
    std::pair<std::string, std::string> entry;
    take(item, entry);
    values.insert_or_assign(std::move(entry.first), std::move(entry.second));
  }
  template <class Value>
  void take(const Item& item, std::optional<Value>& value) {
    take(item, value.emplace());
  }
  template <class Value>
  requires std::is_class_v<Value>
  void take(const Item& item, Value& value) {
    PlainReader part(item.content);
    fields(part, value);
    good_ = good_ && item.sized && part.good_;
  }
  template <class Value>
  void take(const Item& item, std::vector<Value>& values) {
    if constexpr (std::is_integral_v<Value>) {
      if (!item.sized) return values.push_back(static_cast<Value>(item.value));
      std::uint64_t value = 0;
      for (std::string_view left = item.content; good_ && !left.empty();) {
        good_ = read_varint(left, value);
        if (good_) values.push_back(static_cast<Value>(value));
      }
    } else {
      take(item, values.emplace_back());
    }
  }

  std::vector<Item> items_;
  std::uint64_t number_ = 0;
  bool good_ = true;
};

template <class Value>
Result<Value> read_plain(std::string_view bytes) {
  Value value{};
  PlainReader reader(bytes);
  fields(reader, value);
  if (!reader.good()) return invalid("this is not the message that was asked for");
  return value;
}

}  // namespace orrery
