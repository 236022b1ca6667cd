#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/toml_text.h"

namespace orrery {

// "FILE:LINE: what", with the line of `where`.
Error toml_error(std::string_view file, const toml::node& where, std::string_view what);

// A table of a file, and the readers of its values. Errors say file, line and key. The file's name
// and the document outlive it.
class TomlTable {
 public:
  TomlTable(std::string_view file, const toml::table& table) : file_(file), table_(table) {}

  Error wrong(const toml::node& where, std::string_view what) const {
    return toml_error(file_, where, what);
  }
  Error wrong(std::string_view what) const { return wrong(table_, what); }
  Error wrong(std::string_view key, std::string_view what) const;

  // Refuses a key that is not among them.
  Status check_keys(std::span<const std::string_view> known) const;
  // Refuses the table if one of them is not in it. `place` is "[[nodes]]", or empty on top.
  Status check_present(std::span<const std::string_view> needed, std::string_view place) const;

  const toml::node* find(std::string_view key) const { return table_.get(key); }
  // All keys, in the order of the file.
  std::vector<std::pair<std::string_view, const toml::node*>> entries() const;

  Result<std::int64_t> integer(std::string_view key, std::int64_t fallback) const;
  // From 0 to `max`; 0 if the key is not there.
  Result<double> number(std::string_view key, double max) const;
  // A string that is not empty.
  Result<std::string> text(std::string_view key, std::string_view fallback) const;
  // A list of such strings; empty if the key is not there.
  Result<std::vector<std::string>> texts(std::string_view key) const;
  // The tables written [[key]]; none if the key is not there.
  Result<std::vector<TomlTable>> tables(std::string_view key) const;

 private:
  std::string_view file_;
  const toml::table& table_;
};

}  // namespace orrery
