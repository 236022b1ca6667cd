#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

template <class Int>
inline constexpr std::int64_t kMax = std::numeric_limits<Int>::max();

enum class Need { Required, Optional };

// One JSON object of a line of the event log, read field by field. An optional field that is absent
// leaves the value as it is.
class LogLine {
 public:
  explicit LogLine(const nlohmann::json& object) : object_(object) {}

  const nlohmann::json* find(const char* key) const;

  template <class Int>
  Status integer(const char* key, Int& out, Need need, std::int64_t low = 0,
                 std::int64_t high = kMax<std::int64_t>) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return absent(key, need);
    TRY_ASSIGN(const std::int64_t number, whole(*value, key, low, high));
    out = static_cast<Int>(number);
    return {};
  }
  Status time(const char* key, Time& out, Need need) const;
  Status number(const char* key, double& out, Need need) const;
  Status text(const char* key, std::string& out, Need need) const;
  Result<const nlohmann::json*> nested(const char* key) const;
  Result<const nlohmann::json*> list(const char* key) const;

  // A value by itself; the key stands in messages.
  static Result<std::int64_t> whole(const nlohmann::json& value, const char* key, std::int64_t low,
                                    std::int64_t high);
  static Status real(const nlohmann::json& value, const char* key, double& out);

  // An entry of a curve: one or two counts and the speed on them.
  struct Speed {
    std::array<int, 2> counts{};
    double iterations_per_s = 0;
  };
  static Result<Speed> speed(const nlohmann::json& entry, const char* key, std::size_t counts);

 private:
  static Status absent(const char* key, Need need);

  const nlohmann::json& object_;
};

}  // namespace orrery
