#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "workload/profiles/gavel_speeds.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto speeds =
      GavelSpeeds::parse("fuzz", std::string_view(reinterpret_cast<const char*>(data), size), "");
  if (!speeds.ok()) {
    INVARIANT(speeds.error().code == Code::InvalidArgument, speeds.error().message.c_str());
    return 0;
  }
  INVARIANT(speeds.value().steps_per_s("A3C", 1) >= 0, "no speed is below nothing");
  return 0;
}
