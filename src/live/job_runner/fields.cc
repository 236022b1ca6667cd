#include "live/job_runner/fields.h"

#include <charconv>

#include "base/files.h"

namespace orrery {

void Fields::add(std::string_view key, std::string_view value) {
  INVARIANT(value.find('\0') == value.npos, "a field holds no zero byte");
  fields_.emplace_back(key, value);
}
void Fields::add(std::string_view key, std::int64_t value) {
  fields_.emplace_back(key, std::to_string(value));
}

std::string Fields::text(std::string_view key) const {
  for (const auto& [name, value] : fields_) {
    if (name == key) return value;
  }
  return {};
}

std::int64_t Fields::number(std::string_view key, std::int64_t otherwise) const {
  const std::string value = text(key);
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [last, error] = std::from_chars(value.data(), end, number);
  return error == std::errc() && last == end && !value.empty() ? number : otherwise;
}

std::vector<std::string> Fields::all(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : fields_) {
    if (name == key) values.push_back(value);
  }
  return values;
}

std::string Fields::write() const {
  std::string content;
  for (const auto& [name, value] : fields_) {
    content += name;
    content += '=';
    content += value;
    content += '\0';
  }
  content += "end";
  content += '\0';
  return content;
}

Result<Fields> Fields::read(std::string_view content) {
  Fields fields;
  while (true) {
    const std::size_t close = content.find('\0');
    if (close == content.npos) return Error{Code::DataLoss, "cut short"};
    const std::string_view field = content.substr(0, close);
    content.remove_prefix(close + 1);
    if (field == "end" && content.empty()) return fields;
    const std::size_t equals = field.find('=');
    if (equals == field.npos) return Error{Code::DataLoss, "a field without '='"};
    fields.fields_.emplace_back(field.substr(0, equals), field.substr(equals + 1));
  }
}

Result<Fields> read_fields(const std::string& path) {
  TRY_ASSIGN(const std::string content, read_file(path));
  auto fields = Fields::read(content);
  if (!fields.ok()) return std::move(fields).error().at(path);
  return fields;
}

}  // namespace orrery
