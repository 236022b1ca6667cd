#include "workload/text/fixed_text.h"

#include <fmt/format.h>

namespace orrery {

std::string fixed_text(std::int64_t value, int digits) {
  std::int64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  if (value % unit == 0) return fmt::format_int(value / unit).str();
  std::string text = fmt::format("{}.{:0{}}", value / unit, value % unit, digits);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace orrery
