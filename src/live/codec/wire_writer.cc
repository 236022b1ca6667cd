#include "live/codec/wire_writer.h"

#include <google/protobuf/reflection.h>

#include "base/invariant.h"
#include "base/utf8.h"

namespace orrery {

const FieldDescriptor& WireFields::named(const char* name) {
  const FieldDescriptor* field = nullptr;
  if (next_ < descriptor_.field_count() && descriptor_.field(next_)->name() == name) {
    field = descriptor_.field(next_);
  } else {
    field = descriptor_.FindFieldByName(name);
  }
  INVARIANT(field != nullptr, name);
  next_ = field->index() + 1;
  return *field;
}

void WireWriter::put(const FieldDescriptor& field, bool value) {
  message_.GetReflection()->SetBool(&message_, &field, value);
}
void WireWriter::put(const FieldDescriptor& field, int value) {
  message_.GetReflection()->SetInt32(&message_, &field, value);
}
void WireWriter::put(const FieldDescriptor& field, std::int64_t value) {
  message_.GetReflection()->SetInt64(&message_, &field, value);
}
void WireWriter::put(const FieldDescriptor& field, std::uint64_t value) {
  message_.GetReflection()->SetUInt64(&message_, &field, value);
}
void WireWriter::put(const FieldDescriptor& field, double value) {
  message_.GetReflection()->SetDouble(&message_, &field, value);
}
void WireWriter::put(const FieldDescriptor& field, const std::string& value) {
  const bool bytes = field.type() == FieldDescriptor::TYPE_BYTES;
  message_.GetReflection()->SetString(&message_, &field, bytes ? value : as_utf8(value));
}
void WireWriter::put(const FieldDescriptor& field, std::chrono::nanoseconds value) {
  put(field, std::int64_t{value.count()});
}
void WireWriter::put(const FieldDescriptor& field,
                     const std::map<std::string, std::string>& values) {
  for (const auto& [key, value] : values) {
    WireWriter entry(*message_.GetReflection()->AddMessage(&message_, &field));
    entry("key", key);
    entry("value", value);
  }
}
void WireWriter::put(const FieldDescriptor& field, const std::vector<int>& values) {
  const auto numbers =
      message_.GetReflection()->GetMutableRepeatedFieldRef<std::int32_t>(&message_, &field);
  for (const int value : values) numbers.Add(value);
}
void WireWriter::add(const FieldDescriptor& field, std::int64_t value) {
  message_.GetReflection()->AddInt64(&message_, &field, value);
}
void WireWriter::add(const FieldDescriptor& field, const std::string& value) {
  message_.GetReflection()->AddString(&message_, &field, as_utf8(value));
}

}  // namespace orrery
