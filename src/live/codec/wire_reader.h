#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/codec/wire.h"
#include "live/codec/wire_fields.h"

namespace orrery {

// Keeps the first thing that is wrong and reads nothing after it.
class WireReader {
 public:
  explicit WireReader(const Message& message) : message_(message), fields_(message) {}

  template <class Value>
  void operator()(const char* name, Value& value, Range range = {}) {
    if (!status_.ok()) return;
    const FieldDescriptor& field = fields_.named(name);
    const bool absent =
        field.has_presence() && !message_.GetReflection()->HasField(message_, &field);
    if (!absent) take(field, value, range);
  }
  Status status() && { return std::move(status_); }

 private:
  void take(const FieldDescriptor& field, bool& value, Range);
  void take(const FieldDescriptor& field, int& value, Range range);
  void take(const FieldDescriptor& field, std::int64_t& value, Range range);
  void take(const FieldDescriptor& field, std::uint64_t& value, Range);
  void take(const FieldDescriptor& field, double& value, Range);
  void take(const FieldDescriptor& field, std::string& value, Range);
  void take(const FieldDescriptor& field, std::chrono::nanoseconds& value, Range range);
  void take(const FieldDescriptor& field, std::map<std::string, std::string>& value, Range range);
  template <class Value>
  void take(const FieldDescriptor& field, std::optional<Value>& value, Range range) {
    take(field, value.emplace(), range);
  }
  template <class Value>
  requires std::is_enum_v<Value>
  void take(const FieldDescriptor& field, Value& value, Range) {
    value = static_cast<Value>(enumerator(field));
  }
  template <class Value>
  requires std::is_class_v<Value>
  void take(const FieldDescriptor& field, Value& value, Range) {
    part(field, message_.GetReflection()->GetMessage(message_, &field), value);
  }
  template <class Value>
  void take(const FieldDescriptor& field, std::vector<Value>& values, Range range) {
    const int size = length(field, range);
    values.clear();
    values.reserve(static_cast<std::size_t>(size));
    for (int i = 0; i < size && status_.ok(); ++i) {
      if constexpr (Scalar<Value>) {
        item(field, i, values.emplace_back());
      } else {
        part(field, message_.GetReflection()->GetRepeatedMessage(message_, &field, i),
             values.emplace_back());
      }
    }
  }
  void take(const FieldDescriptor& field, std::vector<int>& values, Range range);
  template <class Value>
  void part(const FieldDescriptor& field, const Message& message, Value& value) {
    WireReader reader(message);
    fields(reader, value);
    if (!reader.status_.ok()) wrong(field, std::move(reader.status_).error());
  }
  void item(const FieldDescriptor& field, int index, std::int64_t& value);
  void item(const FieldDescriptor& field, int index, std::string& value);

  int enumerator(const FieldDescriptor& field);
  int length(const FieldDescriptor& field, Range range);  // 0 when it is too long
  void check(const FieldDescriptor& field, std::int64_t value, Range range);
  void wrong(const FieldDescriptor& field, Error inner);
  void wrong(const FieldDescriptor& field, std::string what);

  const Message& message_;
  WireFields fields_;
  Status status_{};
};

template <class Value>
Result<Value> read_wire(const Message& message) {
  Value value;
  WireReader reader(message);
  fields(reader, value);
  TRY(std::move(reader).status());
  return value;
}

}  // namespace orrery
