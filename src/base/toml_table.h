#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/toml_text.h"

namespace orrery {

// A table of the file, and the readers of its values. Errors say file, line and key.
class TomlTable {
 public:
  TomlTable(std::string_view file, const toml::table& table) : file_(file), table_(table) {}

  Error wrong(const toml::node& where, std::string_view what) const {
    return invalid(fmt::format("{}:{}: {}", file_, where.source().begin.line, what));
  }
  Error wrong(std::string_view what) const { return wrong(table_, what); }
  Error wrong(std::string_view key, std::string_view what) const {
    const toml::node* node = table_.get(key);
    return wrong(node != nullptr ? *node : table_, fmt::format("'{}': {}", key, what));
  }

  Status check_keys(std::span<const std::string_view> known) const {
    for (const auto& [key, value] : table_) {
      if (std::ranges::find(known, key.str()) == known.end()) {
        std::string shown(key.str().substr(0, 40));
        std::ranges::replace_if(
            shown, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
        return wrong(value, fmt::format("unknown key '{}'; the known ones are {}", shown,
                                        fmt::join(known, ", ")));
      }
    }
    return {};
  }

  const toml::node* find(std::string_view key) const { return table_.get(key); }

  Result<std::int64_t> integer(std::string_view key, std::int64_t fallback) const {
    const toml::node* node = find(key);
    if (node == nullptr) return fallback;
    const auto value = node->value_exact<std::int64_t>();
    if (!value) return wrong(key, "must be a whole number");
    return *value;
  }

  Result<double> number(std::string_view key, double max) const {
    const toml::node* node = find(key);
    if (node == nullptr) return 0.0;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value)) return wrong(key, "must be a finite number");
    if (*value < 0 || *value > max) {
      return wrong(key, fmt::format("{:.10g} is outside 0 to {:.10g}", *value, max));
    }
    return *value;
  }

  Result<std::string> text(std::string_view key, std::string_view fallback) const {
    const toml::node* node = find(key);
    if (node == nullptr) return std::string(fallback);
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) return wrong(key, "must be a string that is not empty");
    return *value;
  }

 private:
  std::string_view file_;
  const toml::table& table_;
};

}  // namespace orrery
