#include "base/toml_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/plain_text.h"

namespace orrery {

Error toml_error(std::string_view file, const toml::node& where, std::string_view what) {
  return invalid(fmt::format("{}:{}: {}", file, where.source().begin.line, what));
}

Error TomlTable::wrong(std::string_view key, std::string_view what) const {
  const toml::node* node = table_.get(key);
  return wrong(node != nullptr ? *node : table_, fmt::format("'{}': {}", key, what));
}

Status TomlTable::check_keys(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : table_) {
    if (std::ranges::find(known, key.str()) == known.end()) {
      return wrong(value, fmt::format("unknown key '{}'; the known ones are {}",
                                      plain_text(key.str().substr(0, 40)), fmt::join(known, ", ")));
    }
  }
  return {};
}

std::vector<std::pair<std::string_view, const toml::node*>> TomlTable::entries() const {
  std::vector<std::pair<std::string_view, const toml::node*>> found;
  for (const auto& [key, value] : table_) found.emplace_back(key.str(), &value);
  std::ranges::stable_sort(found, {}, [](const auto& entry) {
    const toml::source_position at = entry.second->source().begin;
    return std::pair(at.line, at.column);
  });
  return found;
}

Status TomlTable::check_present(std::span<const std::string_view> needed,
                                std::string_view place) const {
  for (const std::string_view key : needed) {
    if (find(key) == nullptr) {
      return wrong(fmt::format("'{}' is missing{}{}", key, place.empty() ? "" : " in ", place));
    }
  }
  return {};
}

Result<std::int64_t> TomlTable::integer(std::string_view key, std::int64_t fallback) const {
  const toml::node* node = find(key);
  if (node == nullptr) return fallback;
  const auto value = node->value_exact<std::int64_t>();
  if (!value) return wrong(key, "must be a whole number");
  return *value;
}

Result<double> TomlTable::number(std::string_view key, double max) const {
  const toml::node* node = find(key);
  if (node == nullptr) return 0.0;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value)) return wrong(key, "must be a finite number");
  if (*value < 0 || *value > max) {
    return wrong(key, fmt::format("{:.10g} is outside 0 to {:.10g}", *value, max));
  }
  return *value;
}

Result<std::string> TomlTable::text(std::string_view key, std::string_view fallback) const {
  const toml::node* node = find(key);
  if (node == nullptr) return std::string(fallback);
  const auto value = node->value_exact<std::string>();
  if (!value || value->empty()) return wrong(key, "must be a string that is not empty");
  return *value;
}

Result<std::vector<std::string>> TomlTable::texts(std::string_view key) const {
  std::vector<std::string> words;
  const toml::node* node = find(key);
  if (node == nullptr) return words;
  const toml::array* list = node->as_array();
  if (list == nullptr) return wrong(key, "must be a list of strings in brackets");
  for (const toml::node& entry : *list) {
    const auto word = entry.value_exact<std::string>();
    if (!word || word->empty()) {
      return wrong(entry, fmt::format("'{}': every entry must be a string that is not empty", key));
    }
    words.push_back(*word);
  }
  return words;
}

Result<std::vector<TomlTable>> TomlTable::tables(std::string_view key) const {
  std::vector<TomlTable> found;
  const toml::node* node = find(key);
  if (node == nullptr) return found;
  const toml::array* list = node->as_array();
  if (list == nullptr) return wrong(key, fmt::format("must be written [[{}]]", key));
  for (const toml::node& entry : *list) {
    const toml::table* table = entry.as_table();
    if (table == nullptr) {
      return wrong(entry, fmt::format("'{0}' must hold tables, written [[{0}]]", key));
    }
    found.emplace_back(file_, *table);
  }
  return found;
}

}  // namespace orrery
