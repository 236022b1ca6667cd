#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

// What torch threw, in one line: its messages carry a trace of calls behind the first.
inline Error torch_error(std::string_view place, const std::exception& caught,
                         Code code = Code::Internal) {
  const std::string_view text = caught.what();
  return {code, std::string(place) + ": " + std::string(text.substr(0, text.find('\n')))};
}

}  // namespace orrery
