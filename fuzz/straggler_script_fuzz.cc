#include <cstdint>
#include <string>

#include "base/invariant.h"
#include "training/emulation/straggler_script.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; steps that were read can be carried out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto script = parse_straggler_script(std::string(reinterpret_cast<const char*>(data), size),
                                             "fuzz", 8, 1, std::chrono::hours(1));
  if (!script.ok()) {
    INVARIANT(script.error().code == Code::InvalidArgument, script.error().message.c_str());
    return 0;
  }
  Time last{};
  for (const StragglerStep& step : script.value().steps) {
    INVARIANT(step.server >= 0 && step.server < 8, "steps are of servers that exist");
    INVARIANT(step.share > 0 && step.share <= 1, "a share is a share");
    INVARIANT(step.at >= last, "steps ascend");
    last = step.at;
  }
  return 0;
}
