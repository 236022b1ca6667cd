#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

// How one list of a value's fields, `fields(io, value)`, serves every way in and out: io("name",
// member, bounds) moves one field. Fields stand in the order of the message and are numbered in
// that order, from 1; so io may go by the name or by the place.

namespace orrery {

template <class Type, class Value>
concept Like = std::same_as<std::remove_const_t<Type>, Value>;

// Of a number, of a duration in nanoseconds, or of the length of a list.
struct Range {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
inline constexpr Range kCount{0, std::numeric_limits<std::int64_t>::max()};
inline constexpr Range kOneOrMore{1, std::numeric_limits<std::int64_t>::max()};
inline constexpr Range kWords{0, 1 << 16};  // arguments or variables of one command

void fields(auto& io, Like<std::pair<std::string, std::string>> auto& v) {
  io("name", v.first);
  io("value", v.second);
}

template <class Value>
concept Scalar = std::is_arithmetic_v<Value> || std::is_enum_v<Value> ||
    std::same_as<Value, std::string> || std::same_as<Value, std::chrono::nanoseconds>;

}  // namespace orrery
