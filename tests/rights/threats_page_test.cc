// The tables of docs/threats.md are those of the code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/files.h"
#include "live/codec/api_fields.h"
#include "live/daemon/answers/queries.h"
#include "live/daemon/rights/disclosure.h"
#include "rights/scheduler.h"

namespace orrery {
namespace {

std::string page() {
  const auto text = read_file(ORRERY_SOURCE "/docs/threats.md");
  EXPECT_TRUE(text.ok());
  return text.ok() ? text.value() : "";
}

// Gives every field of a value a content that is not its usual one.
struct Fill {
  template <class Value>
  void operator()(const char* /*name*/, Value& value, Range /*bounds*/ = {}) {
    put(value);
  }
  void put(std::string& text) { text = "filled"; }
  void put(bool& flag) { flag = !flag; }
  void put(Duration& duration) { duration += Duration(7); }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void put(Number& number) { number += 7; }
  template <class Value>
  requires std::is_enum_v<Value>
  void put(Value& value) { value = static_cast<Value>(1); }
  template <class Value>
  void put(std::optional<Value>& value) {
    put(value.emplace());
  }
  template <class Value>
  void put(std::vector<Value>& values) {
    put(values.emplace_back());
  }
  void put(std::map<std::string, std::string>& values) { values["filled"] = "filled"; }
  template <class Value>
  requires requires(Fill& io, Value& value) { fields(io, value); }
  void put(Value& value) { fields(*this, value); }
};

// The contents of every field, by its name.
struct Contents {
  std::map<std::string, std::string> of{};
  std::vector<std::string> names{};

  template <class Value>
  void operator()(const char* name, const Value& value, Range /*bounds*/ = {}) {
    of[name] = text(value);
    names.push_back(name);
  }
  static std::string text(const std::string& value) { return value; }
  static std::string text(Duration value) { return fmt::format("{}", value.count()); }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  static std::string text(Number number) { return fmt::format("{}", number); }
  template <class Value>
  requires std::is_enum_v<Value>
  static std::string text(Value value) { return fmt::format("{}", static_cast<int>(value)); }
  template <class Value>
  static std::string text(const std::optional<Value>& value) {
    return value ? text(*value) : "none";
  }
  template <class Value>
  static std::string text(const std::vector<Value>& values) {
    std::string all;
    for (const Value& value : values) all += text(value) + ",";
    return all;
  }
  static std::string text(const std::map<std::string, std::string>& values) {
    std::string all;
    for (const auto& [key, value] : values) all += key + "=" + value + ",";
    return all;
  }
  template <class Value>
  requires requires(Contents& io, const Value& value) { fields(io, value); }
  static std::string text(const Value& value) {
    Contents inner;
    fields(inner, value);
    return text(inner.of);
  }
};

template <class Value>
Contents contents_of(const Value& value) {
  Contents contents;
  fields(contents, value);
  return contents;
}

TEST(ThreatsPage, ItsTableOfCallsIsThatOfTheCode) {
  std::string table = "| call |";
  std::string line = "\n|---|";
  for (const Role role : kRoles) {
    table += fmt::format(" {} |", to_string(role));
    line += "---|";
  }
  table += line + '\n';
  for (int number = 0; number < kCalls; ++number) {
    const Permission allowed = permission(Call{number});
    table += fmt::format("| {} |", allowed.call);
    for (const Role role : kRoles) {
      const bool own = allowed.own.has(role);
      table += !own ? " |" : allowed.of_others.has(role) ? " yes |" : " own |";
    }
    table += '\n';
  }
  EXPECT_NE(page().find(table), std::string::npos) << "write this table there:\n" << table;
}

// A field that the page does not name makes this fail, until the page says what may be seen of it.
TEST(ThreatsPage, ItsTableOfFieldsOfAJobIsThatOfTheCode) {
  JobRequest filled;
  Fill fill;
  fields(fill, filled);
  const Contents whole = contents_of(filled);
  std::map<int, std::string> names;  // by how many levels show them
  for (const std::string& name : whole.names) {
    int levels = 0;
    for (const Detail detail : {Detail::Outline, Detail::Shared, Detail::Whole}) {
      // What stands in the place of a hidden name is the program's.
      const Contents shown = contents_of(disclosed(filled, detail));
      if (shown.of.at(name) == whole.of.at(name)) ++levels;
    }
    std::string& row = names[levels];
    row += fmt::format("{}`{}`", row.empty() ? "" : ", ", name);
  }
  const std::map<int, std::string> cells = {
      {3, "yes | yes | yes"}, {2, "yes | yes |"}, {1, "yes | |"}, {0, "| |"}};
  std::string table =
      "| field | own job | job of an own tenant | job of others |\n|---|---|---|---|\n";
  for (const int levels : {3, 2, 1, 0}) {
    table += fmt::format("| {} | {} |\n", names[levels], cells.at(levels));
  }
  EXPECT_NE(page().find(table), std::string::npos) << "write this table there:\n" << table;
}

}  // namespace
}  // namespace orrery
