#include "live/codec/wire_reader.h"

#include <fmt/format.h>
#include <google/protobuf/reflection.h>

#include <cmath>

namespace orrery {

void WireReader::take(const FieldDescriptor& field, bool& value, Range) {
  value = message_.GetReflection()->GetBool(message_, &field);
}
void WireReader::take(const FieldDescriptor& field, int& value, Range range) {
  value = message_.GetReflection()->GetInt32(message_, &field);
  check(field, value, range);
}
void WireReader::take(const FieldDescriptor& field, std::int64_t& value, Range range) {
  value = message_.GetReflection()->GetInt64(message_, &field);
  check(field, value, range);
}
void WireReader::take(const FieldDescriptor& field, std::uint64_t& value, Range) {
  value = message_.GetReflection()->GetUInt64(message_, &field);
}
void WireReader::take(const FieldDescriptor& field, double& value, Range) {
  value = message_.GetReflection()->GetDouble(message_, &field);
  if (!std::isfinite(value)) wrong(field, "write a finite number");
}
void WireReader::take(const FieldDescriptor& field, std::string& value, Range) {
  value = message_.GetReflection()->GetString(message_, &field);
}
void WireReader::take(const FieldDescriptor& field, std::chrono::nanoseconds& value, Range range) {
  std::int64_t count = 0;
  take(field, count, range);
  value = std::chrono::nanoseconds(count);
}
void WireReader::take(const FieldDescriptor& field, std::map<std::string, std::string>& values,
                      Range range) {
  const int size = length(field, range);
  values.clear();
  for (int i = 0; i < size; ++i) {
    WireReader entry(message_.GetReflection()->GetRepeatedMessage(message_, &field, i));
    std::string key;
    std::string value;
    entry("key", key);
    entry("value", value);
    values.insert_or_assign(std::move(key), std::move(value));
  }
}
// At once: the numbers of an array may be many.
void WireReader::take(const FieldDescriptor& field, std::vector<int>& values, Range range) {
  values.clear();
  if (length(field, range) == 0) return;
  const auto numbers =
      message_.GetReflection()->GetRepeatedFieldRef<std::int32_t>(message_, &field);
  values.assign(numbers.begin(), numbers.end());
}
void WireReader::item(const FieldDescriptor& field, int index, std::int64_t& value) {
  value = message_.GetReflection()->GetRepeatedInt64(message_, &field, index);
}
void WireReader::item(const FieldDescriptor& field, int index, std::string& value) {
  value = message_.GetReflection()->GetRepeatedString(message_, &field, index);
}

int WireReader::enumerator(const FieldDescriptor& field) {
  const int number = message_.GetReflection()->GetEnumValue(message_, &field);
  if (field.enum_type()->FindValueByNumber(number) != nullptr) return number;
  std::string known;
  for (int i = 0; i < field.enum_type()->value_count(); ++i) {
    known += fmt::format("{}{}", i == 0 ? "" : ", ", field.enum_type()->value(i)->name());
  }
  wrong(field, fmt::format("{} is no {}; there are {}", number, field.enum_type()->name(), known));
  return 0;
}

int WireReader::length(const FieldDescriptor& field, Range range) {
  const int size = message_.GetReflection()->FieldSize(message_, &field);
  if (size <= range.most) return size;
  wrong(field, fmt::format("{} entries; at most {} are taken", size, range.most));
  return 0;
}

void WireReader::check(const FieldDescriptor& field, std::int64_t value, Range range) {
  if (value >= range.least && value <= range.most) return;
  if (value < range.least) {
    wrong(field, fmt::format("{} is below {}", value, range.least));
  } else {
    wrong(field, fmt::format("{} is above {}", value, range.most));
  }
}

void WireReader::wrong(const FieldDescriptor& field, Error inner) {
  inner.message.insert(0, field.name() + ".");
  status_ = std::move(inner);
}
void WireReader::wrong(const FieldDescriptor& field, std::string what) {
  status_ = invalid(fmt::format("{}: {}", field.name(), what));
}

}  // namespace orrery
