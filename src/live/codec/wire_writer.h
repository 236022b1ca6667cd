#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/codec/wire.h"
#include "live/codec/wire_fields.h"

namespace orrery {

class WireWriter {
 public:
  explicit WireWriter(Message& message) : message_(message), fields_(message) {}

  template <class Value>
  void operator()(const char* name, const Value& value, Range = {}) {
    put(fields_.named(name), value);
  }

 private:
  void put(const FieldDescriptor& field, bool value);
  void put(const FieldDescriptor& field, int value);
  void put(const FieldDescriptor& field, std::int64_t value);
  void put(const FieldDescriptor& field, std::uint64_t value);
  void put(const FieldDescriptor& field, double value);
  void put(const FieldDescriptor& field, const std::string& value);
  void put(const FieldDescriptor& field, std::chrono::nanoseconds value);
  void put(const FieldDescriptor& field, const std::map<std::string, std::string>& value);
  template <class Value>
  void put(const FieldDescriptor& field, const std::optional<Value>& value) {
    if (value) put(field, *value);
  }
  template <class Value>
  requires std::is_enum_v<Value>
  void put(const FieldDescriptor& field, Value value) {
    message_.GetReflection()->SetEnumValue(&message_, &field, static_cast<int>(value));
  }
  template <class Value>
  requires std::is_class_v<Value>
  void put(const FieldDescriptor& field, const Value& value) {
    WireWriter part(*message_.GetReflection()->MutableMessage(&message_, &field));
    fields(part, value);
  }
  template <class Value>
  void put(const FieldDescriptor& field, const std::vector<Value>& values) {
    for (const Value& value : values) {
      if constexpr (Scalar<Value>) {
        add(field, value);
      } else {
        WireWriter part(*message_.GetReflection()->AddMessage(&message_, &field));
        fields(part, value);
      }
    }
  }
  void put(const FieldDescriptor& field, const std::vector<int>& values);
  void add(const FieldDescriptor& field, std::int64_t value);
  void add(const FieldDescriptor& field, const std::string& value);

  Message& message_;
  WireFields fields_;
};

template <class Value>
void write_wire(const Value& value, Message& message) {
  message.Clear();
  WireWriter writer(message);
  fields(writer, value);
}

}  // namespace orrery
