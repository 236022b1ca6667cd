#pragma once

#include <stdexcept>
#include <string_view>

#include "base/result.h"

namespace orrery {

// toml++ 3.3 meets some faulty documents, such as "[&a]", with an assertion. It is made to throw
// what parse_toml() catches, in every build type.
constexpr void expect_of_toml(bool condition) {
  if (!condition) throw std::logic_error("a character out of place");
}

}  // namespace orrery

#undef NDEBUG
#define TOML_ASSERT(condition) ::orrery::expect_of_toml(static_cast<bool>(condition))
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace orrery {

// The only file that includes toml++. Letters beyond ASCII may stand between double quotes and in
// comments; strings of several lines are refused: the library loses its way on some of them. `name`
// stands in messages.
Result<toml::table> parse_toml(std::string_view name, std::string_view text);

}  // namespace orrery
