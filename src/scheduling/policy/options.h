#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// One option of a policy.
struct OptionInfo {
  std::string_view key = {};
  std::string_view meaning = {};
  std::string_view value = {};  // the default
  // Values worth trying, separated by blanks. The laws run the policy with each.
  std::string_view examples = {};
};
// The example of an option that names a file or a folder.
inline constexpr std::string_view kPathExample = "PATH";

// A value that takes the place of an option's default.
struct OptionDefault {
  std::string_view key;
  std::string_view value;
};

// Options of one policy, by name, checked where the text becomes a value. A question about a key
// that is not in the table is a bug; a value that cannot be read is the user's and is returned.
class Options {
 public:
  Options(std::span<const OptionInfo> table, std::span<const OptionDefault> defaults,
          const std::map<std::string, std::string>& given);

  Result<bool> flag(std::string_view key) const;
  Result<double> number(std::string_view key, double low, double high) const;
  Result<int> integer(std::string_view key, int low, int high) const;
  Result<Duration> duration(std::string_view key, Duration least = {}) const;
  // "1h,2h": rising from above 0.
  Result<std::vector<Duration>> durations(std::string_view key) const;
  // The index of the value among the choices.
  Result<int> choice(std::string_view key, std::span<const std::string_view> choices) const;
  std::string text(std::string_view key) const;

 private:
  std::span<const OptionInfo> table_;
  std::span<const OptionDefault> defaults_;
  const std::map<std::string, std::string>& given_;
};

// The first given key that no table knows, as an error that names the known ones.
Status check_keys(std::string_view policy, std::span<const std::span<const OptionInfo>> tables,
                  const std::map<std::string, std::string>& given);

}  // namespace orrery
